"""The lists of all port forwards and all IPv6 pinholes."""

import csv
import io
from ipaddress import IPv6Address
from typing import Any

import pytest
from django.test import Client

from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from tests import factories
from tests.db.page_client import queries, signed_in, text

HOST = IPv6Address("2001:db8:a0:10::10")


@pytest.fixture
def mara(network: factories.Network) -> Client:
    """A client of an administrator. m1 has a port forward and a pinhole, m2 another pinhole."""
    given: dict[str, Any] = {"public": factories.PUBLIC, "protocol": "udp", "public_port": 6000, "private_port": 16000, "ports": 10}
    add_forward(holding=network.residents["m1"].holding, **given, purpose="=game", by=network.admin)
    add_pinhole(holding=network.residents["m1"].prefix, address=HOST, protocol="tcp", port=440, ports=10, purpose="web", by=network.admin)
    add_pinhole(holding=network.residents["m2"].prefix, address=IPv6Address("2001:db8:a0:11::1"), protocol="all", by=network.admin)
    return signed_in(network.admin)


def read_csv(client: Client, path: str) -> list[list[str]]:
    answer: Any = client.get(path)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode().removeprefix("\ufeff"))))


@pytest.mark.parametrize("q", ["", "6005", "6009-7000", "198.51.100.7", "198.51.100.0/24", "10.16.0.10", "resident of m1", "game"])
def test_forwards_are_found_by_what_people_know(mara: Client, q: str) -> None:
    page = text(mara.get("/forwards/", {"q": q}))
    assert "<code>6000–6009</code>" in page and "10.16.0.10:16000–16009" in page and "Resident of m1" in page


@pytest.mark.parametrize("q", ["5999", "6010-7000", "198.51.100.8", "nobody", "fe80::1%eth0", "\0", "1.2.3.4/99"])
def test_what_is_no_forwards_is_said(mara: Client, q: str) -> None:
    page = text(mara.get("/forwards/", {"q": q}))
    assert "6000–6009" not in page or not q.strip("\0")


@pytest.mark.parametrize("q", ["", "445", "2001:db8:a0:10::10", "2001:db8:a0:10::/64", "resident of m1", "web"])
def test_pinholes_are_found_by_what_people_know(mara: Client, q: str) -> None:
    assert "TCP 440–449" in text(mara.get("/pinholes/", {"q": q}))


@pytest.mark.parametrize(("q", "number"), [("", 2), ("443", 1), ("450", 0), ("2001:db8:a0:11::/64", 1), ("nonsense", 0)])
def test_the_same_rows_come_as_csv(mara: Client, q: str, number: int) -> None:
    head, *lines = read_csv(mara, f"/pinholes.csv?q={q}")
    assert head[:5] == ["Member", "Address", "Protocol", "Port", "Last port"]
    assert len(lines) == number


def test_a_spreadsheet_runs_nothing_of_it(mara: Client) -> None:
    _head, line = read_csv(mara, "/forwards.csv?q=6000")
    assert line[:7] == ["Resident of m1", "udp", "198.51.100.7", "6000", "6009", "10.16.0.10", "16000"]
    assert line[7] == "'=game"


def test_the_lists_need_the_same_queries_for_few_and_many(mara: Client, network: factories.Network) -> None:
    few = queries(mara, "/forwards/"), queries(mara, "/pinholes/")
    for port in range(1, 20):
        given: dict[str, Any] = {"protocol": "tcp", "by": network.admin}
        add_forward(holding=network.residents["m2"].holding, public=factories.PUBLIC, public_port=port, private_port=port, **given)
        add_pinhole(holding=network.residents["m1"].prefix, address=HOST + 1, port=port, **given)
    assert (queries(mara, "/forwards/"), queries(mara, "/pinholes/")) == few


@pytest.mark.parametrize("path", ["/forwards/", "/pinholes/", "/forwards.csv", "/pinholes.csv"])
def test_only_staff_sees_them(network: factories.Network, path: str) -> None:
    assert Client().get(path).status_code == 302
    assert signed_in(factories.user("selin", staff=False)).get(path).status_code == 403
