"""Bring gateways to what the database asks for. The work is in `apps.deployments.services`."""

import structlog
from celery import shared_task

from apps.deployments import rollouts, services
from apps.network.models import GatewayGroup
from firewall.policy import PolicyError

log = structlog.get_logger()


@shared_task(name="workers.reconcile")
def reconcile(by: int | None = None, force: bool = False) -> None:
    """Look at every group; whoever nudged is named in the revision. force: also try what failed before."""
    for group in GatewayGroup.objects.all():
        try:
            services.reconcile(group, by=by, cause="change" if by else "schedule", force=force)
        except PolicyError as error:
            log.error("not deployable", group=group.name, error=str(error))
            rollouts.not_deployable(group, str(error))
