"""Switches of roles: requested by a person, carried out by a worker, which proves each step and goes back if the proof fails.

A gateway gives up its families by a file that keepalived watches. It takes them back by itself when nobody carries them, so a worker
or a portal that dies in the middle leaves members with a gateway.
"""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.rollouts.probing import ProbeResult, probe_gateway
from apps.deployments.transport.agent_channel import AgentChannel, ChannelOf, Unreachable, open_own_channels
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from apps.gateways.agent_upgrade.run_store import blocks_rollouts
from apps.gateways.evidence.models import EvidenceArchive
from apps.gateways.evidence.requests import request_evidence_before
from apps.gateways.roles.install_plan import plan_file_install
from apps.gateways.roles.installing import install_files
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.observation import ask_roles, observe_group
from apps.gateways.roles.outcomes import Outcome, SwitchFailed, end_sentence
from apps.gateways.roles.switch_plan import Kind, SwitchPlan, is_deploy_under_way, plan_switch
from apps.lib.database.constraint_violations import find_violation_detail
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict
from apps.network.models import Gateway, GatewayGroup
from firewall.roles import Drain, FailoverRole, RolesAre

TASK: Final = "workers.switch_roles"
TAKEOVER: Final = 20.0  # seconds in which the other gateway must carry; by then a drained gateway has taken its families back itself
DEPLOY: Final = 60.0  # seconds in which a deploy that is under way must have ended
PAUSE: Final = 0.2  # seconds between two questions
FORGOTTEN: Final = timedelta(minutes=15)  # after which a switch under way has lost its worker
log = structlog.get_logger()


def request_switch(*, gateway: Gateway, kind: Kind, families: Sequence[int] = (), by: User | None = None) -> RoleSwitch:
    """Let a worker move roles, or install the gateway's files. by: None for a command.

    Raises Problem if it cannot be done now, Conflict if another switch of the group is under way.
    """
    plan = plan_file_install(gateway) if kind == Kind.INSTALL else plan_switch(gateway, kind, families)
    if plan.obstacle:
        raise plan.obstacle
    try:
        with transaction.atomic():
            made = RoleSwitch.objects.create(group=gateway.group, gateway=gateway, kind=kind, families=list(plan.families), by=by)
            if kind in (Kind.SWITCH, Kind.DRAIN):
                request_evidence_before(EvidenceArchive.Cause.SWITCH, gateway.group.gateways.all())
    except IntegrityError as error:
        if find_violation_detail(error, "roleswitch_one_at_a_time") is None:
            raise
        words = _("A switch or an installation of %(group)s is under way. Wait until it is over.")
        raise Conflict(words % {"group": gateway.group}) from error
    enqueue_task(TASK, made.pk)
    log.info("switch requested", gateway=gateway.name, kind=kind.value, families=plan.families, by=by.username if by else "")
    return made


def list_waiting() -> list[int]:
    """Return the switches that no worker has begun."""
    return list(RoleSwitch.objects.filter(state=RoleSwitch.State.WAITING).values_list("pk", flat=True))


def end_forgotten_switches() -> None:
    """End the switches whose worker was lost."""
    lost = RoleSwitch.objects.filter(state=RoleSwitch.State.RUNNING, started__lt=timezone.now() - FORGOTTEN)
    lost.update(state=RoleSwitch.State.FAILED, outcome=Outcome.LOST.value, ended=Now())


def await_switch_end(row: RoleSwitch) -> RoleSwitch:
    """Return the switch when it has ended: done, failed, or forgotten by its worker for too long."""
    while (now := RoleSwitch.objects.select_related("gateway").get(pk=row.pk)).state in RoleSwitch.OPEN:
        end_forgotten_switches()
        time.sleep(PAUSE)
    return now


def carry_out_switch(pk: int) -> None:
    """Carry out a switch that waits. Does nothing if another worker has begun it."""
    waiting = RoleSwitch.objects.filter(pk=pk, state=RoleSwitch.State.WAITING)
    if waiting.update(state=RoleSwitch.State.RUNNING, started=Now()) != 1:
        return
    row = RoleSwitch.objects.select_related("group", "gateway__group").get(pk=pk)
    with open_own_channels() as channel_of:
        try:
            work = install_files if row.kind == Kind.INSTALL else _move_roles
            outcome, details, state = *work(row, channel_of), RoleSwitch.State.DONE
        except SwitchFailed as failed:
            outcome, details, state = failed.outcome, failed.details, RoleSwitch.State.FAILED
        except (Unreachable, AgentRefused) as fault:
            outcome, details, state = Outcome.FAULT, {"reason": end_sentence(str(fault))}, RoleSwitch.State.FAILED
        RoleSwitch.objects.filter(pk=pk).update(state=state, outcome=outcome.value, details=details, ended=Now())
        log.info("switch ended", gateway=row.gateway.name, outcome=outcome.value, **details)
        observe_group(row.group, channel_of)


def _move_roles(row: RoleSwitch, channel_of: ChannelOf) -> tuple[Outcome, dict[str, str]]:
    """Move the roles. Return the outcome. Raises SwitchFailed, Unreachable or AgentRefused."""
    _await_deploy(row.group)
    observe_group(row.group, channel_of)
    with translation.override("en"):
        plan = plan_switch(row.gateway, Kind(row.kind), row.families)
    if plan.obstacle:
        raise SwitchFailed(Outcome.REFUSED, reason=str(plan.obstacle))
    if plan.kind == Kind.RESUME:
        _drain(channel_of(plan.gateway), plan.families, drained=False)
        return Outcome.RESUMED, {}
    details = _hand_over(plan, plan.target, channel_of) if plan.target else _give_up_standby(plan, channel_of)
    if plan.kind == Kind.DRAIN:
        return Outcome.DRAINED, details
    _drain(channel_of(plan.gateway), plan.families, drained=False)
    _await_role(channel_of(plan.gateway), plan.families, FailoverRole.STANDBY)
    return Outcome.MOVED, details


def _await_deploy(group: GatewayGroup) -> None:
    """Return when no deploy is on its way to the gateways, so that each runs rules that are confirmed, and no agent begins to try a
    program. Raises SwitchFailed.
    """
    begin = time.monotonic()
    while is_deploy_under_way(group) or blocks_rollouts(group):
        if time.monotonic() - begin > DEPLOY:
            raise SwitchFailed(Outcome.DEPLOYING, seconds=f"{DEPLOY:.0f}")
        time.sleep(PAUSE)


def _give_up_standby(plan: SwitchPlan, channel_of: ChannelOf) -> dict[str, str]:
    """Drain a gateway that carries nothing."""
    _drain(channel_of(plan.gateway), plan.families, drained=True)
    return {}


def _hand_over(plan: SwitchPlan, target: Gateway, channel_of: ChannelOf) -> dict[str, str]:
    """Let the target take over, and prove it. Return details of the outcome."""
    ours, theirs = channel_of(plan.gateway), channel_of(target)
    if failed := _list_failed(probe_gateway(theirs, target), plan.carried):
        raise SwitchFailed(Outcome.NO_PACKETS_BEFORE, target=target.name, reason=failed[0].sentence)
    begin = time.monotonic()
    _drain(ours, plan.families, drained=True)
    seconds = _await_carrier(theirs, plan.carried)
    if seconds is None:
        _drain(ours, plan.families, drained=False)
        raise SwitchFailed(Outcome.NOT_TAKEN, target=target.name, seconds=f"{time.monotonic() - begin:.0f}")
    probed = probe_gateway(theirs, target)
    if failed := _list_failed(probed, plan.carried):
        _go_back(ours, theirs, plan)
        raise SwitchFailed(Outcome.NO_PACKETS, target=target.name, reason=failed[0].sentence)
    sentences = [each.sentence for each in probed if each.family in plan.carried]
    return {"target": target.name, "seconds": f"{seconds:.1f}", "packets": " ".join(sentences)}


def _go_back(ours: AgentChannel, theirs: AgentChannel, plan: SwitchPlan) -> None:
    """Give the families back to the former carrier. The other gateway stands by afterwards."""
    _drain(ours, plan.families, drained=False)
    _await_role(ours, plan.carried, FailoverRole.STANDBY)
    _drain(theirs, plan.carried, drained=True)
    _await_carrier(ours, plan.carried)
    _drain(theirs, plan.carried, drained=False)


def _list_failed(results: Sequence[ProbeResult], families: Sequence[int]) -> list[ProbeResult]:
    """Return the families whose packets do not pass. One that is not probed has not failed."""
    return [each for each in results if each.family in families and each.ok is False]


def _drain(channel: AgentChannel, families: Sequence[int], *, drained: bool) -> RolesAre:
    return expect_answer(RolesAre, channel.ask(Drain(tuple(families), drained)))


def _await_carrier(channel: AgentChannel, families: Sequence[int]) -> float | None:
    """Return the seconds until the gateway carries all of the families, None if it does not within TAKEOVER."""
    return _await(channel, lambda told: {each.family for each in told.families if each.carries} >= set(families))


def _await_role(channel: AgentChannel, families: Sequence[int], role: FailoverRole) -> float | None:
    return _await(channel, lambda told: all(each.role == role for each in told.families if each.family in families))


def _await(channel: AgentChannel, condition: Callable[[RolesAre], bool]) -> float | None:
    begin = time.monotonic()
    while not condition(ask_roles(channel)):
        if time.monotonic() - begin > TAKEOVER:
            return None
        time.sleep(PAUSE)
    return time.monotonic() - begin
