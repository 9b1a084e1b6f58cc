"""Sums up pytest's reports (JUnit XML): failed tests, skipped tests with the reasons, and one last line with the sums."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class CaseOutcome:
    """Outcome of one test. `result` is passed, failed or skipped; an error before or after the test counts as failed."""

    test: str
    result: str
    reason: str = ""


def read(report: Path) -> Iterable[CaseOutcome]:
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314
        test = f"{case.get('classname', '')}::{case.get('name', '')}"
        result, reason = "passed", ""
        for child in case:
            if child.tag in ("failure", "error"):
                result, reason = "failed", child.get("message", "")
            elif child.tag == "skipped" and result == "passed":
                result, reason = "skipped", child.get("message", "")
        yield CaseOutcome(test, result, reason.splitlines()[0] if reason else "")


def summarize(outcomes: list[CaseOutcome]) -> list[str]:
    """Return lines to print; the last one is `N passed, N failed, N skipped`."""
    count = Counter(outcome.result for outcome in outcomes)
    failed = [f"failed: {outcome.test}  {outcome.reason}" for outcome in outcomes if outcome.result == "failed"]
    skipped = [f"skipped: {outcome.test}  ({outcome.reason})" for outcome in outcomes if outcome.result == "skipped"]
    return [*failed, *skipped, f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"]


def main(files: list[str]) -> int:
    outcomes = [outcome for name in files for outcome in read(Path(name))]
    print("\n".join(summarize(outcomes)))
    return 0 if outcomes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
