"""Fetch the gateways' counters, and tend what they became. The work is in `apps.gateways.services` and `apps.traffic.rolling`."""

from celery import shared_task
from django.utils import timezone

from apps.gateways import services
from apps.network.models import Gateway
from apps.traffic import rolling


@shared_task(name="workers.collect")
def collect() -> None:
    """Have each gateway read, each by a task of its own: what one says or does not say is nothing to the others."""
    for gateway in Gateway.objects.values_list("pk", flat=True):
        collect_one.delay(gateway)


@shared_task(name="workers.collect_one")
def collect_one(gateway: int) -> None:
    """Read one gateway."""
    services.collect(Gateway.objects.get(pk=gateway))


@shared_task(name="workers.tend_usage")
def tend_usage() -> None:
    """Make partitions, roll up, and drop what is too old."""
    rolling.tick(timezone.now())
