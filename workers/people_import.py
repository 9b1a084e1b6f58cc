"""Tasks that check and import large tables of people. The work is in `apps.desk.people_import.background`."""

from celery import shared_task

from apps.desk.people_import import background
from workers.ban_feeds import EXPIRES


@shared_task(name="workers.offer_tables")
def offer_tables() -> None:
    """Queue a task for each table that waits, and for those whose worker was lost, in the queue for feeds."""
    for each in background.list_due_uploads():
        import_people.apply_async((each,), expires=EXPIRES)


@shared_task(name="workers.import_people")
def import_people(upload: int) -> None:
    """Check or import one table, if it is due."""
    background.work_on_upload(upload)
