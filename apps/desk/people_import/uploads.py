"""Uploaded tables of people: the database keeps each for a day, with what its columns mean, from the check until after the import."""

from collections.abc import Sequence
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.desk.people_import.columns import ColumnMeaning, parse_choices
from apps.desk.people_import.remembered import compute_header_key, find_meanings, remember_meanings
from apps.desk.people_import.services import PeopleFile, build_conflict, import_people
from apps.desk.people_import.tables import SheetRow, Table, read_table
from apps.lib.errors import Conflict, Problem
from apps.members.models import PeopleUpload

IN_WORK: Final = Q(state__in=[PeopleUpload.State.WAITING, PeopleUpload.State.RUNNING])
MOST_PAGE_ROWS: Final = 2_000
"""A page answers within seconds. A worker checks and imports larger tables."""
MOST_UPLOADS: Final = 10
"""Tables that are kept of one person; older ones go when another is uploaded, unless a worker has them."""


def save_upload(*, name: str, content: bytes, create_rooms: bool, choices: Sequence[str] | None = None, by: User) -> PeopleUpload:
    """Store a table, and forget the person's oldest if there are many. Raises Problem if it cannot be read, or is empty.

    choices: what columns mean that are not recognised, such as “Wohnt in=room”; None: as a person chose for the last table with the same
    headers.
    """
    table = read_table(content, name)
    number = _count_rows(table)
    if not number:
        raise Problem(_("The table has headers, but no line below them."), "file")
    others = PeopleUpload.objects.filter(by=by)
    if others.filter(IN_WORK).count() >= MOST_UPLOADS:
        raise Problem(_("Ten of your tables wait for a worker already. Wait for one, or cancel one."), "file")
    key = compute_header_key(table.header)
    last = find_meanings(key, len(table.header)) if choices is None else None
    meanings = last or list(parse_choices(table.header, choices or ()))
    remembered = {"header_key": key, "as_last_time": last is not None}
    columns = {"meanings": meanings, **remembered, "create_rooms": create_rooms, "by_worker": number > MOST_PAGE_ROWS}
    made = PeopleUpload.objects.create(name=name[-200:], content=content, by=by, **columns)
    kept = others.order_by("-pk").values("pk")[:MOST_UPLOADS]
    others.exclude(Q(pk__in=kept) | IN_WORK).delete()
    return made


def _count_rows(table: Table) -> int:
    """Return how many lines the table has, but no more than MOST_PAGE_ROWS + 1."""
    return sum(1 for _row in zip(table.rows, range(MOST_PAGE_ROWS + 1), strict=False))


def build_people_file(upload: PeopleUpload) -> PeopleFile:
    """Return the table with the meanings that were chosen."""
    meanings = tuple(map(ColumnMeaning, upload.meanings))
    return PeopleFile(bytes(upload.content), upload.name, meanings=meanings, create_rooms=upload.create_rooms)


def read_first_row(upload: PeopleUpload) -> tuple[Sequence[str], SheetRow | None]:
    """Return the header and the first line, as an example of what each column contains."""
    table = read_table(bytes(upload.content), upload.name)
    return table.header, next(table.rows, None)


def save_meanings(upload: PeopleUpload, *, meanings: Sequence[str], create_rooms: bool) -> None:
    """Store what the columns mean, and remember it for tables with these headers. Raises Problem for other columns than the table's."""
    if len(meanings) != len(upload.meanings) or any(each not in ColumnMeaning for each in meanings):
        raise Problem(_("The file has other columns than before. Upload it again."), "file")
    waiting = PeopleUpload.objects.filter(pk=upload.pk).exclude(IN_WORK | Q(state=PeopleUpload.State.IMPORTED))
    chosen = {"meanings": list(meanings), "create_rooms": create_rooms, "as_last_time": False}
    if waiting.update(**chosen, state=PeopleUpload.State.OPEN, report=None) and upload.header_key:
        remember_meanings(upload.header_key, meanings)


def encode_choice(upload: PeopleUpload) -> str:
    """Return the chosen meanings and options as text: what a person who confirms the import has seen."""
    return " ".join([*upload.meanings, "create" if upload.create_rooms else "keep"])


def import_upload(upload: PeopleUpload, *, choice: str, by: User) -> bool:
    """Import the table once, and keep its report. Returns False if the table has problems, so nothing was imported.

    choice: what the person has seen (`encode_choice`). Raises Conflict if something else is chosen by now, and Problem.
    """
    try:
        with transaction.atomic():
            locked = PeopleUpload.objects.select_for_update().get(pk=upload.pk)
            if locked.state == PeopleUpload.State.IMPORTED:
                return True
            if encode_choice(locked) != choice:
                raise Conflict(_("What the columns mean was changed in the meantime, so nothing was imported. Look at the result again."))
            report = import_people(file=build_people_file(locked), by=by)
            if report["problem_count"]:
                return False
            locked.report, locked.content, locked.state = report, b"", PeopleUpload.State.IMPORTED
            locked.task = PeopleUpload.Task.IMPORT
            locked.lines = locked.done = report["line_count"]
            locked.save()
    except IntegrityError as error:
        raise build_conflict() from error
    return True
