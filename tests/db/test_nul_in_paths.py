"""A path with a NUL, which no database stores, leads nowhere."""

import re

import pytest

from apps.accounts import permission_matrix
from tests import factories
from tests.db.page_client import signed_in

TEXTS = re.compile(r"<(?:str|path):\w+>|<\w+>|\(\?P<\w+>(?:[^()]|\([^()]*\))*\)")
NUMBERS = re.compile(r"<\w+:\w+>")


def list_paths() -> list[str]:
    """Return the path of each route that takes a text, with a NUL as the text and 1 for each number."""
    routes = {path for _name, path, _pattern in permission_matrix.list_url_patterns() if TEXTS.search(path)}
    return sorted({"/" + NUMBERS.sub("1", TEXTS.sub("\0", each)).translate({ord(mark): None for mark in "^$\\?"}) for each in routes})


def test_a_nul_in_place_of_a_text_is_not_found(network: factories.Network) -> None:
    mara, paths = signed_in(network.admin), list_paths()
    mara.raise_request_exception = False
    assert "/why/live/\0/1/" in paths and "/why/live/\0/1/end/" in paths and len(paths) > 10
    answers = {path: (mara.get(path).status_code, mara.post(path).status_code) for path in paths}
    assert {path: statuses for path, statuses in answers.items() if max(statuses) >= 500} == {}


@pytest.mark.parametrize("path", ["/why/live/%00/1/", "/why/live/n%00at/1/"])
def test_no_gateway_has_a_nul_in_its_name(network: factories.Network, path: str) -> None:
    mara = signed_in(network.admin)
    assert (mara.get(path).status_code, mara.post(f"{path}end/").status_code) == (404, 404)


def test_a_trace_has_no_number_that_no_computer_counts_to(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    mara.raise_request_exception = False
    assert mara.get(f"/why/live/nat-1/{10**30}/").status_code < 500
