"""Checks and imports of large tables in a worker: requested by people, claimed with a lease, and cancelled.

The table's row is the truth. A worker that is killed leaves nothing behind, because an import is one transaction, which ends with the
row's new state: another worker begins again when the lease ends. After MOST_TRIES the table counts as failed.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID, uuid4

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.desk.people_import.progress import ImportProgress, ImportStopped
from apps.desk.people_import.services import PeopleFile, build_conflict, check_people, import_people
from apps.desk.people_import.uploads import IN_WORK, build_people_file, encode_choice, import_upload, save_upload
from apps.lib.database.row_lease import LEASE, is_claim_valid, keep_lease
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.heap_trim import return_large_blocks, trim_heap
from apps.members.models import PeopleUpload

State, Task = PeopleUpload.State, PeopleUpload.Task
MOST_TRIES: Final = 3  # workers that may die of one table
REPORTED_EVERY: Final = 1.0  # seconds between two reports of progress, each of which renews the lease
DUE: Final = Q(state=State.WAITING) | Q(state=State.RUNNING, claimed_until__lt=Now())
FREE: Final = {"claim": None, "claimed_until": None}
log = structlog.get_logger()


def begin_check_or_import(
    *, name: str, content: bytes, choices: Sequence[str], create_rooms: bool, dry_run: bool, by: User
) -> PeopleUpload:
    """Store a table, and check or import it: at once, or if it is large, by a worker. Raises Problem.

    A table with problems is checked, not imported.
    """
    made = save_upload(name=name, content=content, create_rooms=create_rooms, choices=choices, by=by)
    file = build_people_file(made)
    file.open_table()
    if made.by_worker:
        _request(made, Task.CHECK if dry_run else Task.IMPORT, Q(state=State.OPEN))
    elif dry_run or not import_upload(made, choice=encode_choice(made), by=by):
        report = check_people(file)
        made.state, made.report = State.CHECKED, report
        made.lines = made.done = report["line_count"]
        made.save(update_fields=["state", "report", "lines", "done"])
    made.refresh_from_db()
    return made


def request_check(upload: PeopleUpload) -> bool:
    """Have a worker check the table. Return False if a worker has it, or if it is imported."""
    return _request(upload, Task.CHECK, Q(state__in=[State.OPEN, State.CHECKED, State.CANCELLED, State.FAILED]))


def request_import(upload: PeopleUpload, *, choice: str) -> bool:
    """Have a worker import the table. choice: what the person has seen. Return False if it was not checked, or is imported already."""
    if encode_choice(upload) != choice:
        raise Conflict(_("What the columns mean was changed in the meantime, so nothing was imported. Look at the result again."))
    return _request(upload, Task.IMPORT, Q(state=State.CHECKED, meanings=upload.meanings, create_rooms=upload.create_rooms))


def _request(upload: PeopleUpload, task: str, possible: Q) -> bool:
    wanted = {"state": State.WAITING, "task": task, "done": 0, "of": None, "tries": 0, "problem": "", "language": get_language() or ""}
    if not PeopleUpload.objects.filter(possible, pk=upload.pk).update(**wanted):
        return False
    enqueue_task("workers.import_people", upload.pk)
    return True


def cancel_work(upload: PeopleUpload) -> bool:
    """Cancel what a worker does with the table, or would do. Return False if it has ended already.

    After a cancelled import, the table is checked as before.
    """
    working = PeopleUpload.objects.filter(IN_WORK, pk=upload.pk)
    before = {Task.IMPORT: State.CHECKED, Task.CHECK: State.CANCELLED}
    return any(working.filter(task=task).update(state=state, **FREE) for task, state in before.items())


def list_due_uploads() -> list[int]:
    """Return the tables that wait for a worker, and those whose worker was lost."""
    return list(PeopleUpload.objects.filter(DUE).order_by("pk").values_list("pk", flat=True))


def work_on_upload(pk: int) -> bool:
    """Check or import the table, as was requested. Return False if there is nothing to do, or if it was cancelled meanwhile."""
    claim, progress = uuid4(), ImportProgress()
    mine = {"state": State.RUNNING, "claim": claim, "claimed_until": Now() + LEASE, "tries": F("tries") + 1, "done": 0, "of": None}
    if not PeopleUpload.objects.filter(DUE, pk=pk).update(**mine):
        return False
    with keep_lease(PeopleUpload, pk, claim, every=REPORTED_EVERY, read_columns=progress.to_columns) as lost:
        progress.stopped = lost
        return_large_blocks()
        try:
            return _work(PeopleUpload.objects.select_related("by").get(pk=pk), claim, progress)
        except (ImportStopped, PeopleUpload.DoesNotExist):
            log.info("import of people stopped", upload=pk)
            return False
        finally:
            trim_heap()


def _work(upload: PeopleUpload, claim: UUID, progress: ImportProgress) -> bool:
    """Do it, and store the result, or why there is none. Raises ImportStopped."""
    with override(upload.language or upload.by.mail_language):
        if upload.tries > MOST_TRIES:
            return _store(upload, claim, state=State.FAILED, problem=_("Several workers ended while they read this table. Split it."))
        try:
            return _check(upload, claim, progress) if upload.task == Task.CHECK else _import(upload, claim, progress)
        except Problem as problem:
            return _store(upload, claim, state=State.FAILED, problem=str(problem))
        except MemoryError:
            return _store(upload, claim, state=State.FAILED, problem=_("This table takes more memory than the worker has. Split it."))
        except Exception:
            _store(upload, claim, state=State.FAILED, problem=_("The portal made a mistake, so nothing was changed. Its log says more."))
            raise


def _check(upload: PeopleUpload, claim: UUID, progress: ImportProgress) -> bool:
    report = check_people(_take_file(upload), progress)
    return _store(upload, claim, state=State.CHECKED, report=report)


def _import(upload: PeopleUpload, claim: UUID, progress: ImportProgress) -> bool:
    """Import the table, and store the report in the same transaction. A table that has problems by now is checked, not imported."""
    try:
        with transaction.atomic():
            report = import_people(file=_take_file(upload), by=upload.by, progress=progress)
            if not is_claim_valid(PeopleUpload, upload.pk, claim):
                raise ImportStopped
            if report["problem_count"]:
                return _store(upload, claim, state=State.CHECKED, report=report)
            return _store(upload, claim, state=State.IMPORTED, report=report, content=b"")
    except IntegrityError as error:
        raise build_conflict() from error


def _take_file(upload: PeopleUpload) -> PeopleFile:
    """Return the table, and keep no second copy of it."""
    file = build_people_file(upload)
    upload.content = b""
    return file


def _store(upload: PeopleUpload, claim: UUID, **columns: Any) -> bool:
    """Store the result. Raises ImportStopped if the claim is not valid any more."""
    if "report" in columns:
        columns |= {"lines": columns["report"]["line_count"], "done": columns["report"]["line_count"], "of": None}
    if not PeopleUpload.objects.filter(pk=upload.pk, claim=claim).update(**columns, **FREE):
        raise ImportStopped
    log.info("table of people done", upload=upload.pk, task=upload.task, state=columns["state"])
    return True
