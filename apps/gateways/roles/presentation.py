"""What pages show of roles: the picture of a group, its last switches and changes, and the buttons of each gateway."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.picture import RolesPicture, build_roles_picture
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import GatewayGroup

SHOWN = 8  # changes of carriers
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
    """One gateway with its roles. offers: kinds of switches that it can do, with their words."""

    status: FailoverStatus
    cells: Sequence[RoleCell]
    offers: Sequence[Kind]


@dataclass(frozen=True)
class ShownSwitch:
    """A switch with the sentence that says how it ended."""

    row: RoleSwitch
    state: StateLabel
    outcome: str


@dataclass(frozen=True)
class RolesPanel:
    """Everything that the panel of a group shows. polls: a switch is under way, so it changes soon."""

    picture: RolesPicture
    rows: Sequence[GatewayRow]
    last: ShownSwitch | None
    changes: Sequence[CarrierChange]

    @property
    def polls(self) -> bool:
        return self.last is not None and self.last.row.state in RoleSwitch.OPEN


def build_roles_panel(group: GatewayGroup, now: datetime) -> RolesPanel:
    """Build the panel of one group."""
    picture = build_roles_picture(group, now)
    roles = [each for family in picture.families for each in family.roles]
    last = RoleSwitch.objects.filter(group=group).select_related("gateway", "by").order_by("-id").first()
    changes = CarrierChange.objects.filter(group=group).select_related("switch__by").order_by("-at", "-id")[:SHOWN]
    is_open = last is not None and last.state in RoleSwitch.OPEN
    rows = [_build_row(status, [each for each in roles if each.status_id == status.pk], idle=not is_open) for status in picture.statuses]
    return RolesPanel(picture, rows, _show_switch(last) if last else None, list(changes))


def _build_row(status: FailoverStatus, roles: Sequence[GatewayRole], *, idle: bool) -> GatewayRow:
    offers = []
    if idle and roles and not status.problem:
        offers += [Kind.SWITCH] if any(each.carries for each in roles) else []
        offers += [Kind.DRAIN] if any(not each.is_drained for each in roles) else []
        offers += [Kind.RESUME] if any(each.is_drained for each in roles) else []
    return GatewayRow(status, [RoleCell(each, _show_role(each)) for each in roles], offers)


def _show_role(role: GatewayRole) -> StateLabel:
    kinds = {GatewayRole.Role.PRIMARY: StateKind.ACTIVE, GatewayRole.Role.STANDBY: StateKind.PLAIN}
    kind = StateKind.WARN if role.is_drained or role.status.problem else kinds.get(GatewayRole.Role(role.role), StateKind.WARN)
    return StateLabel(kind, role.get_role_display(), "swap" if role.role == GatewayRole.Role.STANDBY else "")


def _show_switch(row: RoleSwitch) -> ShownSwitch:
    return ShownSwitch(row, StateLabel(KINDS[RoleSwitch.State(row.state)], row.get_state_display()), describe_outcome(row))
