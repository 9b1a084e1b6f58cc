"""The page about ASVS: each row has a state and evidence, and named evidence exists."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d+\.\d+\.\d+[^|]*) \| (met|partly|not met|n/a) \| ([^|]+) \|$", re.MULTILINE)
LINES = [line for line in (ROOT / "docs" / "asvs.md").read_text().splitlines() if re.match(r"\| \d", line)]
ROWS = ROW.findall("\n".join(LINES))
NAMED = re.compile(r"`([\w./-]+\.(?:py|md|lock|yml))(?:::(\w+))?`")
FOUND = re.compile(r"`[\w./-]+\.\w+(?:::\w+)?`|\]\([\w.#/-]+\)")


@cache
def names_of_tests(file: str) -> frozenset[str]:
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)\(", (ROOT / file).read_text(), re.MULTILINE))


def test_every_row_can_be_read() -> None:
    assert len(ROWS) == len(LINES) > 70


@pytest.mark.parametrize(("requirement", "state", "evidence"), ROWS, ids=[row[0].split(" ")[0] for row in ROWS])
def test_what_a_row_names_exists(requirement: str, state: str, evidence: str) -> None:
    for file, test in NAMED.findall(evidence):
        assert (ROOT / file).is_file(), file
        assert not test or test in names_of_tests(file), f"{file} has no {test}"
    if state in ("met", "partly"):
        assert FOUND.search(evidence), f"{requirement}: say by what it can be seen"


@pytest.mark.parametrize(("requirement", "state", "evidence"), [row for row in ROWS if row[1] in ("partly", "not met")])
def test_what_is_not_met_has_a_reason_or_a_date(requirement: str, state: str, evidence: str) -> None:
    words = re.sub(r"`[^`]*`", "", evidence).split()
    assert len(words) >= 6 or re.search(r"20\d\d-\d\d-\d\d", evidence), requirement
