"""Decides whether a rollout is due. After most failures it is retried, later each time; a state that a gateway refused or did not confirm
is not retried automatically.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import takewhile

import structlog
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.observed_state import drift, gateway_states
from apps.deployments.rollouts.rollout_driver import GatewayLinks
from apps.deployments.transport import agent_client
from apps.deployments.transport.agent_channel import Unreachable
from apps.lib.database.compiled_query import compile_once
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from firewall.rollout import WITHOUT

log = structlog.get_logger()

RETRY_DELAYS = tuple(
    timedelta(seconds=seconds) for seconds in (0, 30, 60, 120, 300, 600, 1800, 3600)
)  # after the first failure, the second …


@dataclass
class DueCheck:
    """Due check of one group. at_the_kernel: ask each gateway what it really runs, because it may have been changed by hand.

    found_loss: True once a gateway is due that had confirmed the desired state, and has lost it.
    """

    group: GatewayGroup
    wanted: DesiredState
    links: GatewayLinks
    at_the_kernel: bool
    found_loss: bool = field(default=False, init=False)
    _states: dict[int, GatewayState] = field(init=False)
    _last: Rollout | None = field(init=False)
    _given_up: bool = field(init=False)

    def __post_init__(self) -> None:
        self._states = {state.gateway_id: state for state in _read_states(self.group.pk)}
        self._last = _find_last_try(self.group, self.wanted)
        self._given_up = self._last is not None and is_automatic_retry_forbidden(self._last)

    def list_worth_trying(self, gateways: Iterable[Gateway]) -> list[Gateway]:
        """Return the gateways that are due; none if a rollout would end where the last one did, before it reaches them."""
        due = [gateway for gateway in gateways if self.is_due(gateway)]
        would_end = not self.group.goes_on and any(each not in due and self._ended_last(each) for each in gateways)
        return [] if would_end and not self.found_loss else due

    def _ended_last(self, gateway: Gateway) -> bool:
        """True if the last try of the desired state went on without this gateway, or ended at it, and it still lacks that state."""
        steps = self._last.steps.all() if self._last else ()
        return self.is_desired_state_unconfirmed(gateway) and any(step.gateway_id == gateway.pk and step.state in WITHOUT for step in steps)

    def is_desired_state_unconfirmed(self, gateway: Gateway) -> bool:
        """True if this gateway has never confirmed the desired state. Those that did are repaired before it is tried on new ones."""
        state = self._states.get(gateway.pk)
        return state is None or state.digest != self.wanted.targets[gateway.pk]

    def is_due(self, gateway: Gateway) -> bool:
        """True if the gateway runs something else and an attempt now makes sense. A fault with one gateway does not affect the others."""
        try:
            due = self._is_due(gateway)
            self.found_loss |= due and not self.is_desired_state_unconfirmed(gateway)
            return due
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("error in the portal while working on a gateway", gateway=gateway.name)
            return False

    def _is_due(self, gateway: Gateway) -> bool:
        state, target = self._states.get(gateway.pk), self.wanted.targets[gateway.pk]
        impaired = self._find_impaired_step(gateway)
        if state is None:
            return not self._given_up and not impaired
        if not (self.at_the_kernel or state.unreachable_since or impaired):
            return state.digest != target and not self._given_up
        welcome = self._request_welcome(gateway)
        if welcome is None:
            return False
        _record_answer(state, welcome, self.links.get_channel(gateway).version or state.protocol)
        if agent_client.is_running(welcome, target):
            drift.clear_drift(state)
            return state.digest != target and not self._is_stuck(welcome, impaired)
        if state.digest == target and not welcome.trial:
            return not self._is_overtaken(state) and self._should_heal(gateway, welcome)
        return not (self._given_up or self._is_stuck(welcome, impaired))

    def _is_overtaken(self, state: GatewayState) -> bool:
        """True if another worker changes the group's gateways, or has done so since this one read what they run: it knows better."""
        if Rollout.objects.filter(group=self.group, state__in=Rollout.OPEN).exists():
            return True
        return not GatewayState.objects.filter(pk=state.pk, digest=state.digest, revision=state.revision_id).exists()

    def _should_heal(self, gateway: Gateway, welcome: wire.Welcome) -> bool:
        """True if a gateway that lost its confirmed ruleset should be repaired. Failures on other gateways do not prevent that."""
        others = [digest for pk, digest in self.wanted.targets.items() if pk != gateway.pk]
        ruleset, now = self.wanted.rulesets[gateway.pk], self.wanted.snapshot.now
        cause = drift.fetch_and_record_drift(gateway, self.links.get_channel(gateway), welcome, ruleset, now, others)
        may = self.group.heals_drift or cause is None or cause in drift.HEALS_ANYWAY
        return may and not self._is_stuck(welcome, self._find_impaired_step(gateway))

    @staticmethod
    def _is_stuck(welcome: wire.Welcome, impaired: RolloutStep | None) -> bool:
        """True if a fault of the gateway itself is, or may be, still in the way."""
        return bool(welcome.disk) or (impaired is not None and not _has_rested(impaired))

    def _find_impaired_step(self, gateway: Gateway) -> RolloutStep | None:
        """Return the gateway's step in the last rollout, if that tried the same desired state and a fault of the gateway itself
        prevented it.
        """
        steps = self._last.steps.all() if self._last else ()
        return next((step for step in steps if step.gateway_id == gateway.pk and step.state == RolloutStep.State.IMPAIRED), None)

    def _request_welcome(self, gateway: Gateway) -> wire.Welcome | None:
        try:
            return agent_client.send_hello(self.links.get_channel(gateway), self.wanted.snapshot.now)
        except Unreachable as fault:
            gateway_states.record_silence(gateway, str(fault))
            return None
        except agent_client.AgentRefused:
            return None


def _record_answer(state: GatewayState, welcome: wire.Welcome, protocol: int) -> None:
    """Record that the gateway answers, the versions of its agent and of their protocol, and the disk error that it reports."""
    mine = GatewayState.objects.filter(pk=state.pk)
    if state.unreachable_since:
        mine.update(unreachable_since=None, error="", seen=Now())
    if (state.disk, state.agent, state.protocol) != (welcome.disk, welcome.agent[:40], protocol):
        mine.update(disk=welcome.disk, agent=welcome.agent[:40], protocol=protocol)


@compile_once
def _read_states(group: int) -> QuerySet[GatewayState]:
    return GatewayState.objects.filter(gateway__group=group)


@compile_once
def _read_last_finished(group: int) -> QuerySet[Rollout]:
    over = Rollout.objects.filter(group_id=group).exclude(state__in=Rollout.OPEN)
    return over.select_related("revision").prefetch_related("steps").order_by("-pk")[:1]


def _find_last_try(group: GatewayGroup, wanted: DesiredState) -> Rollout | None:
    """Return the group's last finished rollout, if it tried exactly this desired state."""
    last = next(iter(_read_last_finished(group.pk)), None)
    names = {gateway.name: wanted.targets[gateway.pk] for gateway in group.gateways.all() if gateway.pk in wanted.targets}
    return last if last and last.revision.digests == names else None


def is_automatic_retry_forbidden(rollout: Rollout) -> bool:
    """True if this rollout has shown that its revision must not be retried automatically, on any gateway of the group."""
    if rollout.state == Rollout.State.ABORTED:
        return True
    against = {RolloutStep.State.REFUSED, RolloutStep.State.WENT_BACK} | (set() if rollout.harmless else {RolloutStep.State.LOST})
    return any(step.state in against for step in rollout.steps.all())


def is_impaired_gateway_retried(step: RolloutStep) -> bool:
    """True if an impaired gateway is retried automatically. A token that is ahead of ours does not come down by waiting."""
    return step.reason != "token"


def _has_rested(step: RolloutStep) -> bool:
    """True if the gateway may be tried again now. The pause grows with each failure in a row (RETRY_DELAYS)."""
    if not is_impaired_gateway_retried(step):
        return False
    ends = RolloutStep.objects.filter(gateway=step.gateway_id).order_by("-rollout_id")[: len(RETRY_DELAYS)]
    times = len(list(takewhile(lambda each: each.state == RolloutStep.State.IMPAIRED, ends)))
    finished = step.rollout.finished
    return finished is None or timezone.now() >= finished + RETRY_DELAYS[times - 1]
