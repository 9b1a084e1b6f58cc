"""Tasks that read the gateways' counters, and what depends on them. The work is in `apps.gateways.services` and `apps.traffic`."""

import structlog
from celery import shared_task
from django.utils import timezone

from apps.gateways import services
from apps.lib.database.clock import read_database_clock
from apps.lib.errors import Conflict
from apps.network.models import Gateway, GatewayGroup
from apps.traffic import precomputed_totals, rollup
from apps.traffic.fairshare import services as fair_shares

log = structlog.get_logger()


@shared_task(name="workers.collect")
def collect() -> None:
    """Queue a task for each gateway, so that a slow or failing gateway does not delay the others."""
    for gateway in Gateway.objects.values_list("pk", flat=True):
        collect_one.delay(gateway)


@shared_task(name="workers.collect_one")
def collect_one(gateway: int) -> None:
    """Read one gateway's counters."""
    services.collect_counters(Gateway.ever.get(pk=gateway))


@shared_task(name="workers.tend_usage")
def tend_usage() -> None:
    """Create partitions, roll up, drop data past its retention, and compute the totals that lists start with."""
    now = read_database_clock()
    rollup.run_maintenance(now)
    precomputed_totals.refresh_totals(now)


@shared_task(name="workers.share_fairly")
def share_fairly() -> None:
    """Check if uplinks are full, and limit or release members."""
    for group in GatewayGroup.objects.filter(fair_share__on=True):
        try:
            fair_shares.adjust_limits(group, timezone.now())
        except Conflict as conflict:  # the next run tries again
            log.info("fair share put off", group=str(group), why=str(conflict))
