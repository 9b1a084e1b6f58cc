"""Tasks that read the gateways' health and sum it up. The work is in `apps.gateways.health`."""

from celery import shared_task
from django.utils import timezone

from apps.gateways.health import collection, rollup


@shared_task(name="workers.read_health")
def read_health() -> None:
    """Read and judge the health of each gateway."""
    collection.read_all_gateways()


@shared_task(name="workers.sum_health")
def sum_health() -> None:
    """Sum up what is over: five minutes, hours, days."""
    rollup.sum_up(timezone.now())
