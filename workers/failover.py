"""Tasks of failover: who carries which family, and switches that people asked for. The work is in `apps.gateways.roles`."""

from celery import shared_task

from apps.gateways.roles import observation, switching
from apps.network.models import GatewayGroup


@shared_task(name="workers.watch_roles")
def watch_roles() -> None:
    """Ask the gateways of each group with failover for their roles; take up switches that no worker has begun."""
    switching.end_forgotten_switches()
    for pk in switching.list_waiting():
        switch_roles.delay(pk)
    for group in GatewayGroup.objects.filter(failover__isnull=False):
        observation.observe_group(group)


@shared_task(name="workers.switch_roles")
def switch_roles(switch: int) -> None:
    """Carry out one switch."""
    switching.carry_out_switch(switch)
