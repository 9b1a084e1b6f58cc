"""Task of upgrades of agents. The work is in `apps.gateways.agent_upgrade`."""

from celery import shared_task

from apps.gateways.agent_upgrade import driving


@shared_task(name="workers.upgrade_agents")
def upgrade_agents() -> None:
    """Go on with the upgrades that are under way, as far as that is possible without waiting."""
    driving.advance_all()
