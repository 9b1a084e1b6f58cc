"""Page of a group's agents: which each gateway has, and how the last upgrade goes or went."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.gateways.agent_texts import get_own_release
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.agent_upgrade.outcome_texts import describe_package_need, describe_step
from apps.gateways.agent_upgrade.requesting import find_last_upgrade
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Gateway, GatewayGroup

State = AgentUpgradeStep.State
KINDS = {
    State.WAITING: StateKind.PLAIN,
    State.SENDING: StateKind.MOVING,
    State.TRIAL: StateKind.MOVING,
    State.CONFIRMED: StateKind.OK,
    State.CURRENT: StateKind.OK,
    State.REFUSED: StateKind.WARN,
    State.WENT_BACK: StateKind.BAD,
    State.SKIPPED: StateKind.PLAIN,
}
RUN_KINDS = {
    AgentUpgrade.State.RUNNING: StateKind.MOVING,
    AgentUpgrade.State.DONE: StateKind.OK,
    AgentUpgrade.State.STOPPED: StateKind.WARN,
}


@dataclass(frozen=True)
class AgentRow:
    """A gateway and its agent's version, "" if it has not told one. is_outdated: another version than this portal's."""

    gateway: Gateway
    agent: str
    is_outdated: bool

    @property
    def state(self) -> StateLabel:
        if not self.agent:
            return StateLabel(StateKind.PLAIN, _("not told yet"))
        return StateLabel(StateKind.WARN, _("another release")) if self.is_outdated else StateLabel(StateKind.OK, _("this portal’s"))


@dataclass(frozen=True)
class UpgradeLine:
    """A gateway's part of the last upgrade. package: a sentence if the gateway needs the package, too."""

    step: AgentUpgradeStep
    state: StateLabel
    sentence: str
    package: str


@dataclass(frozen=True)
class AgentsPage:
    """Everything on the page. last: the newest upgrade; None if there was none."""

    ours: str
    rows: Sequence[AgentRow]
    last: AgentUpgrade | None
    lines: Sequence[UpgradeLine]

    @property
    def is_running(self) -> bool:
        return self.last is not None and self.last.state == AgentUpgrade.State.RUNNING

    @property
    def outdated_names(self) -> list[str]:
        """Names of the gateways with another agent than this portal's."""
        return [each.gateway.name for each in self.rows if each.is_outdated]

    @property
    def may_stop(self) -> bool:
        """True if no gateway tries the program at this moment."""
        return self.is_running and not any(each.step.state in AgentUpgradeStep.MOVING for each in self.lines)

    @property
    def run_state(self) -> StateLabel | None:
        return StateLabel(RUN_KINDS[AgentUpgrade.State(self.last.state)], self.last.get_state_display()) if self.last else None


def build_agents_page(group: GatewayGroup) -> AgentsPage:
    """Build the page of one group. Asks no gateway."""
    ours, last = get_own_release(), find_last_upgrade(group)
    told = dict(GatewayState.objects.filter(gateway__group=group).values_list("gateway", "agent"))
    rows = [AgentRow(each, told.get(each.pk, ""), told.get(each.pk, "") != ours) for each in list_in_rollout_order(group)]
    return AgentsPage(ours, rows, last, [_build_line(each) for each in last.steps.all()] if last else [])


def _build_line(step: AgentUpgradeStep) -> UpgradeLine:
    state = StateLabel(KINDS[State(step.state)], step.get_state_display())
    return UpgradeLine(step, state, describe_step(step), describe_package_need(step))
