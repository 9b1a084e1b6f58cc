"""Bring gateways to what the database asks for. The work is in `apps.deployments.services`."""

from celery import shared_task

from apps.deployments import services
from apps.network.models import GatewayGroup


@shared_task(name="workers.reconcile")
def reconcile(by: int | None = None, force: bool = False) -> None:
    """Look at every group; whoever nudged is named in the revision. force: also try what failed before."""
    for group in GatewayGroup.objects.all():
        services.reconcile(group, by=by, cause="change" if by else "schedule", force=force)
