"""docs/faults.md has each fault that a test causes, in the words that the test expects, and each that cannot be caused."""

import re
from pathlib import Path

import pytest

from tests.whole.faults.injected_fault import ImpossibleFault, InjectedFault
from tests.whole.faults.table import FAULTS, IMPOSSIBLE

PAGE = (Path(__file__).parents[2] / "docs" / "faults.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
CAUSED = {row[0]: row[1:] for row in ROWS if len(row) == 3}
OTHERS = {row[0]: row[1] for row in ROWS if len(row) == 2}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.name)
def test_a_fault_is_on_the_page_with_its_words_and_its_time(fault: InjectedFault) -> None:
    words, seconds = CAUSED[fault.name]
    lines = words.split("<br>")
    assert len(lines) == len(fault.says)
    assert all(any(re.search(each, line) for line in lines) for each in fault.says)
    assert int(seconds.removesuffix(" s")) <= fault.seen_after


@pytest.mark.parametrize("fault", IMPOSSIBLE, ids=lambda each: each.name)
def test_a_fault_that_cannot_be_caused_is_on_the_page_with_the_reason(fault: ImpossibleFault) -> None:
    assert OTHERS[fault.name] == fault.reason


def test_there_are_forty_faults_and_each_name_is_one_fault() -> None:
    names = [*(each.name for each in FAULTS), *(each.name for each in IMPOSSIBLE)]
    assert len(names) == len(set(names)) >= 40
