"""Bring gateways to what the database asks for. The work is in `apps.deployments.services`."""

import structlog
from celery import shared_task

from apps.deployments import rollouts, services, states
from apps.network.models import GatewayGroup
from firewall.policy import PolicyError

log = structlog.get_logger()


@shared_task(name="workers.reconcile")
def reconcile(by: int | None = None, force: bool = False, cause: str = "") -> None:
    """Look at every group; whoever nudged is named in the revision. force: also try what failed before."""
    for group in GatewayGroup.objects.all():
        _reconcile(group, by=by, cause=cause or ("change" if by else "schedule"), force=force)


@shared_task(name="workers.take_over")
def take_over() -> None:
    """Go on with rollouts whose worker is gone, sooner than the next look at everything."""
    for group in rollouts.groups_left_alone():
        _reconcile(group, by=None, cause="change", force=False)


def _reconcile(group: GatewayGroup, *, by: int | None, cause: str, force: bool) -> None:
    try:
        services.reconcile(group, by=by, cause=cause, force=force)
    except PolicyError as error:
        log.error("not deployable", group=group.name, error=str(error))
        states.not_deployable(group, str(error))
