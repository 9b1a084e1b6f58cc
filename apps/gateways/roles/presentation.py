"""What pages show of roles: the picture of a group, its last switches and changes, and the buttons of each gateway."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.gateways.roles.drawing import PictureLine, draw_ways
from apps.gateways.roles.file_drift import runs_current_files
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.roles.outcomes import Outcome, describe_outcome, describe_step
from apps.gateways.roles.picture import RolesPicture, build_roles_picture
from apps.gateways.roles.problems import RoleProblem, list_problems
from apps.gateways.roles.takeovers import Takeover, predict_takeovers
from apps.gateways.roles.timeline import Timeline, build_timeline
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Failover

SHOWN = 8  # changes of carriers
SWITCHES = 6  # past switches
KINDS = {
    RoleSwitch.State.WAITING: StateKind.MOVING,
    RoleSwitch.State.RUNNING: StateKind.MOVING,
    RoleSwitch.State.DONE: StateKind.OK,
    RoleSwitch.State.FAILED: StateKind.BAD,
}
Kind = RoleSwitch.Kind


@dataclass(frozen=True)
class RoleCell:
    """One family of one gateway."""

    role: GatewayRole
    state: StateLabel


@dataclass(frozen=True)
class GatewayRow:
    """One gateway with its roles. offers: kinds of switches that it can do, with their words. installs: its files are not today's."""

    status: FailoverStatus
    cells: Sequence[RoleCell]
    offers: Sequence[Kind]
    installs: bool


@dataclass(frozen=True)
class ShownSwitch:
    """A switch with the sentence that says how it ended, or what is done now. seconds: until the other gateway carried; None: never."""

    row: RoleSwitch
    state: StateLabel
    outcome: str
    seconds: float | None


@dataclass(frozen=True)
class RolesPage:
    """Everything that the page of a group's failover shows. lines: of the drawing. longest: seconds of the slowest switch shown."""

    picture: RolesPicture
    problems: Sequence[RoleProblem]
    rows: Sequence[GatewayRow]
    lines: Sequence[PictureLine]
    takeovers: Sequence[Takeover]
    timeline: Timeline
    switches: Sequence[ShownSwitch]
    changes: Sequence[CarrierChange]

    @property
    def polls(self) -> bool:
        """True if a switch is under way, so that the page changes soon."""
        return bool(self.switches) and self.switches[0].row.state in RoleSwitch.OPEN

    @property
    def worst(self) -> RoleProblem | None:
        return next(iter(self.problems), None)

    @property
    def others(self) -> Sequence[RoleProblem]:
        """The problems after the worst one."""
        return self.problems[1:]

    @property
    def is_covered(self) -> bool:
        """True if members go on as before whichever gateway dies."""
        return bool(self.takeovers) and all(each.is_covered for each in self.takeovers)

    @property
    def longest(self) -> float:
        return max((each.seconds for each in self.switches if each.seconds is not None), default=0.0)


def build_roles_page(settings: Failover, now: datetime) -> RolesPage:
    """Build the page of one group."""
    group = settings.group
    picture = build_roles_picture(group)
    switches = RoleSwitch.objects.filter(group=group).select_related("gateway", "by").order_by("-id")[:SWITCHES]
    changes = CarrierChange.objects.filter(group=group).select_related("switch__by").order_by("-at", "-id")[:SHOWN]
    is_idle = not any(each.state in RoleSwitch.OPEN for each in switches)
    return RolesPage(
        picture=picture,
        problems=list_problems(picture, now),
        rows=[_build_row(status, picture.list_roles_of(status), idle=is_idle) for status in picture.statuses],
        lines=draw_ways(picture),
        takeovers=predict_takeovers(picture, settings),
        timeline=build_timeline(group, now),
        switches=[_show_switch(each) for each in switches],
        changes=list(changes),
    )


def _build_row(status: FailoverStatus, roles: Sequence[GatewayRole], *, idle: bool) -> GatewayRow:
    offers = []
    if idle and roles and not status.problem:
        offers += [Kind.SWITCH] if any(each.carries for each in roles) else []
        offers += [Kind.DRAIN] if any(not each.is_drained for each in roles) else []
        offers += [Kind.RESUME] if any(each.is_drained for each in roles) else []
    installs = idle and (bool(status.edited) or runs_current_files(status) is False)
    return GatewayRow(status, [RoleCell(each, _show_role(each)) for each in roles], offers, installs)


def _show_role(role: GatewayRole) -> StateLabel:
    kinds = {GatewayRole.Role.PRIMARY: StateKind.ACTIVE, GatewayRole.Role.STANDBY: StateKind.PLAIN}
    kind = StateKind.WARN if role.is_drained or role.status.problem else kinds.get(GatewayRole.Role(role.role), StateKind.WARN)
    return StateLabel(kind, role.get_role_display(), "swap" if role.role == GatewayRole.Role.STANDBY else "")


def _show_switch(row: RoleSwitch) -> ShownSwitch:
    state = StateLabel(KINDS[RoleSwitch.State(row.state)], row.get_state_display())
    seconds = row.details.get("seconds") if row.outcome in (Outcome.MOVED, Outcome.DRAINED) else None
    return ShownSwitch(row, state, describe_outcome(row) or describe_step(row), float(seconds) if seconds else None)
