"""Picture of a group's roles: who carries each family, whether that is the plan, and what would go wrong if a gateway died now.

Reads what was reported last; asks no gateway.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count
from django.utils.translation import gettext as _

from apps.gateways.primaries import find_primary
from apps.gateways.roles.file_drift import iter_drift_texts
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole
from apps.gateways.roles.observation import list_carrying, list_roles
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.network.models import Failover, Gateway, GatewayGroup

SILENT: Final = timedelta(minutes=3)  # without an answer, roles are the past
IDLE: Final = {
    "elected": timedelta(seconds=30),
    "synchronised": timedelta(minutes=3),
}  # keepalived looks each second, conntrackd's timer twice a minute
FEW: Final = 1_000  # connections that a standby may lack whatever the share: they are opened and closed all the time
SHARE: Final = 0.8  # of the carrier's connections that its standby should have
DAY: Final = timedelta(days=1)
RESTLESS: Final = 4  # moves within a day that nobody asked for: more than a crash and the way back of two gateways


@dataclass(frozen=True)
class RoleProblem:
    """What is wrong with the roles, as a sentence. kind: BAD if members are without a gateway, or would be if one died."""

    kind: StateKind
    text: str


@dataclass(frozen=True)
class FamilyPicture:
    """One family: the roles by which it is carried, all its roles, the preferred gateway, and the last change."""

    family: int
    carrying: Sequence[GatewayRole]
    roles: Sequence[GatewayRole]
    preferred: Gateway | None
    change: CarrierChange | None

    @property
    def is_as_planned(self) -> bool:
        """True if the preferred gateway, and no other, carries the family."""
        return [each.status.gateway for each in self.carrying] == [self.preferred]

    @property
    def carrier_names(self) -> str:
        """Names of the gateways that carry it; "" for none."""
        return ", ".join(each.status.gateway.name for each in self.carrying)


@dataclass(frozen=True)
class RolesPicture:
    """All families of a group, the reports of its gateways, and what is wrong, the worst first."""

    group: GatewayGroup
    families: Sequence[FamilyPicture]
    statuses: Sequence[FailoverStatus]
    problems: Sequence[RoleProblem]


def build_roles_picture(group: GatewayGroup, now: datetime) -> RolesPicture:
    """Build the picture of one group."""
    roles = list_roles(group)
    families = [_build_family(group, family, roles) for family in sorted({each.family for each in roles})]
    rows = FailoverStatus.objects.filter(gateway__group=group, gateway__retired=None)
    statuses = list(rows.select_related("gateway__group", "gateway__server_interface").order_by("gateway__name"))
    direct = Failover.objects.filter(group=group, cache=Failover.Cache.DIRECT).exists()
    found = [
        *_iter_family_problems(families),
        *_iter_flapping(group, now),
        *_iter_gateway_problems(statuses, roles, now),
        *(_iter_state_problems(families) if direct else ()),
    ]
    order = (StateKind.BAD, StateKind.WARN, StateKind.PLAIN)
    return RolesPicture(group, families, statuses, sorted(found, key=lambda each: order.index(each.kind)))


def _build_family(group: GatewayGroup, family: int, roles: Sequence[GatewayRole]) -> FamilyPicture:
    mine = [each for each in roles if each.family == family]
    last = CarrierChange.objects.filter(group=group, family=family).select_related("switch__by").order_by("-id").first()
    return FamilyPicture(family, list_carrying(mine), mine, find_primary(group, family), last)


def _iter_family_problems(families: Sequence[FamilyPicture]) -> Iterator[RoleProblem]:
    for each in families:
        given = {"family": each.family, "gateways": each.carrier_names, "preferred": each.preferred}
        if not each.carrying:
            yield RoleProblem(StateKind.BAD, _("No gateway carries IPv%(family)d.") % given)
        elif len(each.carrying) > 1:
            words = _("%(gateways)s carry IPv%(family)d at the same time. Are both links between them cut, or does a switch drop VRRP?")
            yield RoleProblem(StateKind.BAD, words % given)
        elif each.preferred and not each.is_as_planned:
            yield RoleProblem(StateKind.WARN, _("IPv%(family)d is carried by %(gateways)s, and %(preferred)s is preferred.") % given)


def _iter_flapping(group: GatewayGroup, now: datetime) -> Iterator[RoleProblem]:
    """Yield a problem for each family that moves again and again."""
    asked = (CarrierChange.Cause.FIRST, CarrierChange.Cause.SWITCH, CarrierChange.Cause.DRAINED)
    recent = CarrierChange.objects.filter(group=group, at__gte=now - DAY).exclude(cause__in=asked)
    for row in recent.order_by("family").values("family").annotate(moves=Count("id")).filter(moves__gt=RESTLESS):
        words = _("IPv%(family)d moved %(moves)d times within a day, and nobody asked for it. A longer interval or failback calms it.")
        yield RoleProblem(StateKind.WARN, words % row)


def _iter_gateway_problems(statuses: Sequence[FailoverStatus], roles: Sequence[GatewayRole], now: datetime) -> Iterator[RoleProblem]:
    for status in statuses:
        name = {"gateway": status.gateway.name}
        mine = [each for each in roles if each.status_id == status.pk]
        if status.problem:
            given = name | {"problem": status.problem}
            yield RoleProblem(
                StateKind.WARN if status.seen else StateKind.PLAIN, _("%(gateway)s does not tell its roles: %(problem)s") % given
            )
        elif status.seen is None or now - status.seen > SILENT:
            yield RoleProblem(StateKind.WARN, _("%(gateway)s was not asked lately.") % name)
        else:
            yield from _iter_program_problems(status, name)
            yield from (RoleProblem(StateKind.WARN, text) for text in iter_drift_texts(status))
            yield from _iter_standby_problems(mine, name)


def _iter_program_problems(status: FailoverStatus, name: dict[str, str]) -> Iterator[RoleProblem]:
    if is_idle(status, "elected"):
        words = _("keepalived does not run on %(gateway)s: it neither takes over nor hands over. See “systemctl status keepalived”.")
        yield RoleProblem(StateKind.BAD, words % name)
    if is_idle(status, "synchronised"):
        words = _(
            "conntrackd does not answer on %(gateway)s: members’ connections would end with a switch. See “systemctl status conntrackd”."
        )
        yield RoleProblem(StateKind.BAD, words % name)


def is_idle(status: FailoverStatus, fieldname: str) -> bool:
    """True if the program was not seen to work for long when the gateway answered last."""
    moment: datetime | None = getattr(status, fieldname)
    return moment is None or (status.seen is not None and status.seen - moment > IDLE[fieldname])


def _iter_standby_problems(roles: Sequence[GatewayRole], name: dict[str, str]) -> Iterator[RoleProblem]:
    drained = [f"IPv{each.family}" for each in roles if each.is_drained]
    if drained:
        words = _("%(gateway)s is drained of %(families)s: it does not take over until it is back again.")
        yield RoleProblem(StateKind.WARN, words % (name | {"families": " + ".join(drained)}))
    failing = [f"IPv{each.family}" for each in roles if each.role == GatewayRole.Role.FAULT and not each.is_drained and not each.carries]
    if failing:
        words = _("%(gateway)s cannot take over %(families)s: an interface has no carrier, or it does not forward.")
        yield RoleProblem(StateKind.WARN, words % (name | {"families": " + ".join(failing)}))


def _iter_state_problems(families: Sequence[FamilyPicture]) -> Iterator[RoleProblem]:
    """Yield a problem if the standby of a carrier has far fewer connections than it."""
    seen = set()
    for family in families:
        for carrier in family.carrying:
            for other in (each for each in family.roles if each.status_id != carrier.status_id and not each.status.problem):
                pair = (carrier.status, other.status)
                if lacks_states(*pair) and (carrier.status_id, other.status_id) not in seen:
                    seen.add((carrier.status_id, other.status_id))
                    yield RoleProblem(StateKind.WARN, describe_lacking_states(*pair))


def lacks_states(carrier: FailoverStatus, other: FailoverStatus) -> bool:
    """True if the other gateway has far fewer connections in its kernel than the carrier."""
    return other.tracked < carrier.tracked * SHARE - FEW


def describe_lacking_states(carrier: FailoverStatus, other: FailoverStatus) -> str:
    """Return the sentence for that."""
    words = _("%(other)s has %(fewer)s connections, %(carrier)s %(number)s: those that are missing would end with a switch.")
    numbers = {"fewer": formats.format_number(other.tracked), "number": formats.format_number(carrier.tracked)}
    return words % {"other": other.gateway.name, "carrier": carrier.gateway.name, **numbers}
