"""Requests for an upgrade of a group's agents: what would be done, what is in the way, and who asked."""

from collections.abc import Sequence
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.models import GatewayState
from apps.deployments.restored_database.restore_hold import refuse_while_restored
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.lib.database.constraint_violations import find_violation_detail
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway, GatewayGroup

TASK: Final = "workers.upgrade_agents"
log = structlog.get_logger()


def list_outdated_gateways(group: GatewayGroup) -> list[Gateway]:
    """Return the group's gateways that told another version of their agent than this portal's, in the order of an upgrade."""
    ours = build_agent_package().version
    told = dict(GatewayState.objects.filter(gateway__group=group).values_list("gateway", "agent"))
    return [each for each in list_in_rollout_order(group) if told.get(each.pk, "") != ours]


def request_upgrade(*, group: GatewayGroup, by: User | None = None) -> AgentUpgrade:
    """Let a worker upgrade the group's agents. by: None for a command.

    Raises Problem if all have the portal's release, or while a restore holds the gateways back; Conflict if an upgrade is under way.
    """
    refuse_while_restored()
    if not list_outdated_gateways(group):
        raise Problem(_("All agents of %(group)s are of this portal’s release.") % {"group": group}, culprit=group)
    try:
        with transaction.atomic():
            made = _create_upgrade(group, list_in_rollout_order(group), by)
    except IntegrityError as error:
        if find_violation_detail(error, "agentupgrade_one_at_a_time") is None:
            raise
        words = _("The agents of %(group)s are being upgraded already.")
        raise Conflict(words % {"group": group}, culprit=group) from error
    enqueue_task(TASK)
    log.info("agent upgrade requested", group=group.name, agent=made.agent, by=by.username if by else "")
    return made


def stop_upgrade(upgrade: AgentUpgrade) -> bool:
    """Stop an upgrade before its next gateway. Return False if it is over, or a gateway tries the program now: that ends first."""
    with transaction.atomic():
        row = AgentUpgrade.objects.select_for_update().get(pk=upgrade.pk)
        if row.state != AgentUpgrade.State.RUNNING or row.steps.filter(state__in=AgentUpgradeStep.MOVING).exists():
            return False
        row.steps.filter(state=AgentUpgradeStep.State.WAITING).update(state=AgentUpgradeStep.State.SKIPPED, since=Now())
        AgentUpgrade.objects.filter(pk=row.pk).update(state=AgentUpgrade.State.STOPPED, ended=Now(), lease_until=None)
    return True


def _create_upgrade(group: GatewayGroup, gateways: Sequence[Gateway], by: User | None) -> AgentUpgrade:
    package = build_agent_package()
    made = AgentUpgrade.objects.create(group=group, agent=package.version, digest=package.program_digest, by=by)
    agents = dict(GatewayState.objects.filter(gateway__group=group).values_list("gateway", "agent"))
    AgentUpgradeStep.objects.bulk_create(
        AgentUpgradeStep(upgrade=made, gateway=each, position=at, before=agents.get(each.pk, "")) for at, each in enumerate(gateways)
    )
    return made


def find_last_upgrade(group: GatewayGroup) -> AgentUpgrade | None:
    """Return the group's newest upgrade with its steps; None if there was none."""
    return AgentUpgrade.objects.filter(group=group).select_related("by").prefetch_related("steps__gateway").first()
