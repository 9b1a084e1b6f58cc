"""Fetch the gateways' counters. The work is in `apps.gateways.services`."""

from celery import shared_task

from apps.gateways import services
from apps.network.models import Gateway


@shared_task(name="workers.collect")
def collect() -> None:
    """Read each gateway once."""
    for gateway in Gateway.objects.all():
        services.collect(gateway)
