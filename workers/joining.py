"""Task that examines machines on their way to become gateways. The work is in `apps.gateways.joining`."""

from celery import shared_task

from apps.gateways.joining import examination


@shared_task(name="workers.examine_machines")
def examine_machines(machine: int | None = None) -> None:
    """Examine one machine, or those whose examination was requested and has not been done."""
    for each in examination.list_requested() if machine is None else [machine]:
        examination.examine_machine(each)
