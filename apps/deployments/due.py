"""Is there a point in a rollout now? What a gateway refused, or did not confirm, is not tried again blindly."""

from dataclasses import dataclass, field

from django.db.models.functions import Now

from apps.deployments import carry, drift
from apps.deployments.drive import Links
from apps.deployments.link import Unreachable
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.wanted import Wanted
from apps.network.models import Gateway, GatewayGroup
from firewall import wire


@dataclass
class Look:
    """One look at a group. at_the_kernel: ask each gateway what it really runs; somebody may have meddled with it."""

    group: GatewayGroup
    wanted: Wanted
    links: Links
    at_the_kernel: bool
    _states: dict[int, GatewayState] = field(init=False)
    _given_up: bool = field(init=False)

    def __post_init__(self) -> None:
        self._states = {state.gateway_id: state for state in GatewayState.objects.filter(gateway__group=self.group)}
        self._given_up = given_up(self.group, self.wanted)

    def is_due(self, gateway: Gateway) -> bool:
        """Does the gateway run something else, and is there a point in trying now?"""
        state, target = self._states.get(gateway.pk), self.wanted.targets[gateway.pk]
        if state is None:
            return not self._given_up
        if not (self.at_the_kernel or state.unreachable_since):
            return state.digest != target and not self._given_up
        welcome = self._welcome(gateway)
        if welcome is None:
            return False
        if state.unreachable_since:
            GatewayState.objects.filter(pk=state.pk).update(unreachable_since=None, error="", seen=Now())
        if carry.runs(welcome, target):
            if state.drift:
                GatewayState.objects.filter(pk=state.pk).update(drift=None, drift_since=None)
            return state.digest != target
        if state.digest == target and not welcome.trial:
            drifted = drift.look(gateway, self.links.kept(gateway), self.wanted.rulesets[gateway.pk], self.wanted.snapshot.now)
            return self.group.heals_drift or not drifted
        return not self._given_up

    def _welcome(self, gateway: Gateway) -> wire.Welcome | None:
        try:
            return carry.hello(self.links.kept(gateway), self.wanted.snapshot.now)
        except (Unreachable, carry.NotDone):
            return None


def given_up(group: GatewayGroup, wanted: Wanted) -> bool:
    """Was exactly this tried last, and not because somebody was away?"""
    last = Rollout.objects.filter(group=group).exclude(state__in=Rollout.OPEN).select_related("revision").order_by("-pk").first()
    if last is None or last.state == Rollout.State.CONFIRMED:
        return False
    names = {gateway.name: wanted.targets[gateway.pk] for gateway in group.gateways.all() if gateway.pk in wanted.targets}
    if last.revision.digests != names:
        return False
    if last.state == Rollout.State.ABORTED:
        return True
    against = [RolloutStep.State.REFUSED, RolloutStep.State.WENT_BACK] + ([] if last.harmless else [RolloutStep.State.LOST])
    return last.steps.filter(state__in=against).exists()
