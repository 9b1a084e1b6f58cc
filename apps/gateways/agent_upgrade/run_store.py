"""Stores runs and steps of upgrades by conditional updates: a worker that has lost its lease writes nothing more."""

from datetime import timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.deployments.models import GatewayState, Rollout
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.roles.models import RoleSwitch
from apps.lib.enqueue import enqueue_task
from apps.network.models import GatewayGroup

LEASE: Final = timedelta(seconds=30)  # after which another worker may go on; what a gateway does by then is no less right
KEPT_WAITING: Final = timedelta(seconds=60)  # for which rollouts of the group wait for a trial; later the gateway on trial refuses them
State = AgentUpgradeStep.State

CLAIM = """
    UPDATE gateways_agentupgrade SET token = nextval('deployments_token'), lease_until = now() + make_interval(secs => %s)
    WHERE id = (
        SELECT id FROM gateways_agentupgrade
        WHERE id = %s AND state = 'running' AND (lease_until IS NULL OR lease_until < now()) FOR UPDATE SKIP LOCKED
    )
    RETURNING token
"""


class UpgradeLeaseLost(Exception):  # noqa: N818 - a state of the world
    """Another worker goes on with the upgrade: this one must do nothing more."""


def list_open_upgrades() -> list[int]:
    """Return the upgrades that are under way."""
    return list(AgentUpgrade.objects.filter(state=AgentUpgrade.State.RUNNING).order_by("pk").values_list("pk", flat=True))


def claim_upgrade(pk: int) -> AgentUpgrade | None:
    """Take the lease of an upgrade, with a new fencing token. Return None if another worker has it, or it is over."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [LEASE.total_seconds(), pk])
        if cursor.fetchone() is None:
            return None
    return AgentUpgrade.objects.select_related("group").get(pk=pk)


def renew_lease(run: AgentUpgrade) -> None:
    """Keep the lease for longer. Raises UpgradeLeaseLost."""
    if AgentUpgrade.objects.filter(pk=run.pk, token=run.token, state=AgentUpgrade.State.RUNNING).update(lease_until=Now() + LEASE) != 1:
        raise UpgradeLeaseLost(str(run))


def release_lease(run: AgentUpgrade) -> None:
    """Let the next worker go on at once."""
    AgentUpgrade.objects.filter(pk=run.pk, token=run.token).update(lease_until=None)


@transaction.atomic
def set_state(run: AgentUpgrade, step: AgentUpgradeStep, state: AgentUpgradeStep.State, **values: object) -> None:
    """Store a step's new state. Raises UpgradeLeaseLost."""
    renew_lease(run)
    AgentUpgradeStep.objects.filter(pk=step.pk).update(state=state, since=Now(), **values)
    step.refresh_from_db()


@transaction.atomic
def begin_if_idle(run: AgentUpgrade, step: AgentUpgradeStep) -> bool:
    """Let the step begin, unless a rollout or a switch of the group is under way. From then on no rollout begins (see `blocks_rollouts`).

    A new rollout refers to the group's row, so it waits for this lock, and looks for steps afterwards. Raises UpgradeLeaseLost.
    """
    GatewayGroup.objects.select_for_update().get(pk=run.group_id)
    moving = Rollout.objects.filter(group=run.group_id, state__in=Rollout.OPEN).exists()
    if moving or RoleSwitch.objects.filter(group=run.group_id, state__in=RoleSwitch.OPEN).exists():
        return False
    set_state(run, step, State.SENDING)
    return True


def blocks_rollouts(group: GatewayGroup) -> bool:
    """True while a gateway of the group begins to try a program: a new rollout waits, for some seconds, and at most KEPT_WAITING."""
    moving = AgentUpgradeStep.objects.filter(
        upgrade__group=group, upgrade__state=AgentUpgrade.State.RUNNING, state__in=AgentUpgradeStep.MOVING
    )
    return moving.filter(since__gt=timezone.now() - KEPT_WAITING).exists()


@transaction.atomic
def end_step(run: AgentUpgrade, step: AgentUpgradeStep, state: AgentUpgradeStep.State, *, problem: str = "", reason: str = "") -> None:
    """End a step. A failure ends the run: the other gateways keep their programs. Raises UpgradeLeaseLost."""
    set_state(run, step, state, problem=problem, reason=reason.replace("\0", "")[:1000])
    if state in AgentUpgradeStep.BAD:
        run.steps.filter(state=State.WAITING).update(state=State.SKIPPED, since=Now())
        _end_run(run, AgentUpgrade.State.STOPPED)
    elif not run.steps.filter(state__in=[State.WAITING, *AgentUpgradeStep.MOVING]).exists():
        _end_run(run, AgentUpgrade.State.DONE)
    enqueue_task("workers.reconcile")


@transaction.atomic
def end_without_gateways(run: AgentUpgrade) -> None:
    """End a run of which only gateways are left that are not in service any more. Raises UpgradeLeaseLost."""
    renew_lease(run)
    run.steps.filter(state=State.WAITING).update(state=State.SKIPPED, since=Now())
    _end_run(run, AgentUpgrade.State.DONE)


def record_agent(step: AgentUpgradeStep, version: str, protocol: int | None) -> None:
    """Store which agent the gateway has now, so that pages need not wait for the next look at it."""
    values = {"agent": version[:40]} | ({"protocol": protocol} if protocol else {})
    GatewayState.objects.filter(gateway=step.gateway_id).update(**values)


def _end_run(run: AgentUpgrade, state: AgentUpgrade.State) -> None:
    AgentUpgrade.objects.filter(pk=run.pk).update(state=state, ended=Now(), lease_until=None)
