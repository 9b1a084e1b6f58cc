"""What the page shows of a table of people: its columns with their meanings, and the report of a check or an import in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from apps.desk.people_import.columns import COLUMN_NAMES, ColumnMeaning
from apps.desk.people_import.services import check_people
from apps.desk.people_import.uploads import build_people_file, encode_choice, read_first_row
from apps.lib.errors import Problem
from apps.lib.ui.formats import format_day
from apps.members.models import Member, PeopleUpload

SHOWN: Final = 20
"""As many of the members that are added, and of those that are changed, are shown."""
COUNT_NAMES: Final[dict[str, str | Promise]] = {
    "members_added": gettext_lazy("new members"),
    "members_changed": gettext_lazy("changed members"),
    "members_unchanged": gettext_lazy("unchanged members"),
    "sites_added": gettext_lazy("new houses"),
    "rooms_added": gettext_lazy("new rooms"),
    "devices_added": gettext_lazy("new devices"),
    "addresses_added": gettext_lazy("private addresses"),
    "prefixes_added": gettext_lazy("IPv6 prefixes"),
    "forwards_added": gettext_lazy("port forwards"),
}


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column of the table: its header, the cell below it, and what it means."""

    header: str
    example: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PersonChange:
    """What a line adds or changes: field, value before and value after, in words."""

    line: int
    called: str
    changes: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The report of a check or an import in words."""

    numbers: Sequence[tuple[str, int]]
    touched: int
    people: Sequence[PersonChange]
    places: Sequence[str]
    problems: Sequence[dict[str, Any]]
    problem_count: int

    @property
    def more(self) -> int:
        """How many of the members that are added and changed are not shown."""
        return self.touched - len(self.people)

    @property
    def more_problems(self) -> int:
        return self.problem_count - len(self.problems)


def describe_report(report: dict[str, Any]) -> ImportResult:
    """Return the report in the words of the page."""
    counts = report["counts"]
    always = ("members_added", "members_changed", "members_unchanged")
    people = [_describe_person(each) for each in report["added"][:SHOWN] + report["changed"][:SHOWN]]
    return ImportResult(
        numbers=[(str(words), counts[name]) for name, words in COUNT_NAMES.items() if counts[name] or name in always],
        touched=counts["members_added"] + counts["members_changed"],
        people=people,
        places=[*report["sites"], *report["rooms"]][:SHOWN],
        problems=report["problems"],
        problem_count=report["problem_count"],
    )


def _describe_person(person: dict[str, Any]) -> PersonChange:
    called = f"{person['name']}, M-{person['number']}" if person["number"] else person["name"]
    changes = [(str(COLUMN_NAMES[field]), _format_value(field, old), _format_value(field, new)) for field, old, new in person["changes"]]
    return PersonChange(person["line"], called, changes)


def _format_value(field: str, value: str) -> str:
    """Return a value of the report as pages write it."""
    if field == ColumnMeaning.STATE and value:
        return str(Member.State(value).label)
    if field in (ColumnMeaning.SINCE, ColumnMeaning.PAID_UNTIL) and value:
        return format_day(date.fromisoformat(value))
    return value


def list_columns(upload: PeopleUpload) -> list[SheetColumn]:
    """Return the columns of the table."""
    header, first = read_first_row(upload)
    cells = [*(first.cells if first else ()), *([""] * len(header))]
    return [SheetColumn(name, cell[:60], meaning) for name, cell, meaning in zip(header, cells, upload.meanings, strict=False)]


def build_check_context(upload: PeopleUpload) -> dict[str, Any]:
    """Return what the page of a checked table shows: the check's result, or why there is none. A worker has checked a large one."""
    context: dict[str, Any] = {"upload": upload, "meanings": COLUMN_NAMES.items(), "choice": encode_choice(upload)}
    try:
        context["columns"] = list_columns(upload)
        if upload.by_worker and upload.state != PeopleUpload.State.CHECKED:
            return context | {"problem": upload.problem}
        report = upload.report if upload.by_worker else None
        return context | {"result": describe_report(report or check_people(build_people_file(upload)))}
    except Problem as problem:
        return context | {"problem": str(problem)}
