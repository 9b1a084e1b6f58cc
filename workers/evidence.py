"""Tasks that collect evidence of gateways. The work is in `apps.gateways.evidence`."""

from celery import shared_task

from apps.gateways.evidence import collection


@shared_task(name="workers.tend_evidence")
def tend_evidence() -> None:
    """Take up requests that no worker has begun; end those that came to nothing."""
    collection.end_forgotten_requests()
    for pk in collection.list_waiting_requests():
        collect_evidence.delay(pk)


@shared_task(name="workers.collect_evidence")
def collect_evidence(archive: int) -> None:
    """Carry out one request."""
    collection.collect_evidence(archive)
