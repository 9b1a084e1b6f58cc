"""Tasks that read the gateways' health and sum it up. The work is in `apps.gateways.health` and `apps.gateways.timeouts`."""

from celery import shared_task
from django.utils import timezone

from apps.gateways.health import collection, rollup
from apps.gateways.timeouts import reading


@shared_task(name="workers.read_health")
def read_health() -> None:
    """Read and judge the health of each gateway, and take up readings of remaining times that no worker has begun."""
    for pk in reading.list_waiting_readings():
        read_timeouts.delay(pk)
    collection.read_all_gateways()


@shared_task(name="workers.read_timeouts")
def read_timeouts(pk: int) -> None:
    """Carry out one request for the remaining times of a gateway's connections."""
    reading.read_timeouts(pk)


@shared_task(name="workers.sum_health")
def sum_health() -> None:
    """Sum up what is over: five minutes, hours, days."""
    rollup.sum_up(timezone.now())
