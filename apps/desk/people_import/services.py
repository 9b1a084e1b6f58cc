"""Import of a table of people: a dry run says what would change; an import writes it, all or nothing.

Importing the same table twice changes nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pghistory
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.desk.people_import.columns import ColumnMeaning, check_columns, parse_choices
from apps.desk.people_import.network_facts import read_known_network
from apps.desk.people_import.person_row import PersonRowParser
from apps.desk.people_import.plan import ImportPlan, make_plan
from apps.desk.people_import.progress import ImportProgress
from apps.desk.people_import.report import build_report
from apps.desk.people_import.tables import Table, read_table
from apps.desk.people_import.writing import write_plan
from apps.lib.database.query_limits import lift_statement_limit
from apps.lib.errors import Conflict, Problem


@dataclass(frozen=True, slots=True)
class PeopleFile:
    """An uploaded table. meanings: of its columns; None: as recognised, with `choices` such as “Zimmer=room” applied."""

    content: bytes
    name: str = ""
    meanings: tuple[ColumnMeaning, ...] | None = None
    choices: Sequence[str] = ()
    create_rooms: bool = False

    def open_table(self) -> tuple[Table, tuple[ColumnMeaning, ...]]:
        """Return the table and the meanings of its columns. Raises Problem."""
        table = read_table(self.content, self.name)
        meanings = parse_choices(table.header, self.choices) if self.meanings is None else self.meanings
        if len(meanings) != len(table.header):
            raise Problem(_("The file has other columns than before. Upload it again."), "file")
        check_columns(table.header, meanings)
        return table, meanings


def check_people(file: PeopleFile, progress: ImportProgress | None = None) -> dict[str, Any]:
    """Return the report of a dry run (`report.py`). Raises Problem for a file that cannot be read, and ImportStopped."""
    return _plan(file, progress or ImportProgress())[1]


def import_people(*, file: PeopleFile, by: User, progress: ImportProgress | None = None) -> dict[str, Any]:
    """Import the table, and return the report. If it names problems, nothing was changed. Raises Problem as well, and ImportStopped."""
    progress = progress or ImportProgress()
    reason = f"import of {file.name or 'a table'}"[:200]
    try:
        with transaction.atomic(), pghistory.context(user=by.pk, cause="import people", reason=reason):
            lift_statement_limit()
            plan, report = _plan(file, progress)
            if not plan.problem_count:
                write_plan(plan, by=by, progress=progress)
    except IntegrityError as error:
        raise build_conflict() from error
    return report


def build_conflict() -> Conflict:
    """Return what to say if the database refused what the plan found possible."""
    return Conflict(_("Something was changed by someone else at the same moment, so nothing was imported. Check the table again."))


def _plan(file: PeopleFile, progress: ImportProgress) -> tuple[ImportPlan, dict[str, Any]]:
    table, meanings = file.open_table()
    known = read_known_network()
    rows = progress.iter_counted_rows(table.rows)
    plan = make_plan(rows, PersonRowParser(table.header, meanings), known, create_rooms=file.create_rooms)
    return plan, build_report(plan, known, table.header, meanings)
