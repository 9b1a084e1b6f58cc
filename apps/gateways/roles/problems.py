"""What is wrong with a group's roles, as sentences: who carries a family and should not, and what would go wrong if a gateway died."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count
from django.utils.translation import gettext as _

from apps.gateways.failover_files import find_failover
from apps.gateways.families import join_family_names
from apps.gateways.roles.file_drift import iter_drift_texts
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole
from apps.gateways.roles.picture import Deviation, FamilyPicture, RolesPicture
from apps.gateways.roles.program_health import describe_lacking_states, is_idle, lacks_states
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Failover, GatewayGroup

SILENT: Final = timedelta(minutes=3)  # without an answer, roles are the past
DAY: Final = timedelta(days=1)
RESTLESS: Final = 4  # moves within a day that nobody asked for: more than a crash and the way back of two gateways
_ORDER: Final = (StateKind.BAD, StateKind.WARN, StateKind.PLAIN)


@dataclass(frozen=True)
class RoleProblem:
    """What is wrong, as a sentence.

    kind: BAD if members are without a gateway, or would be if one died. silent_gateway: the id of the gateway that tells nothing, if this
    is what is wrong. gateways: ids of the gateways at which the cause is; none: it is the group's.
    """

    kind: StateKind
    text: str
    silent_gateway: int | None = None
    gateways: frozenset[int] = frozenset()

    @property
    def icon(self) -> str:
        return StateLabel(self.kind, self.text).shown_icon


def list_problems(picture: RolesPicture, now: datetime) -> list[RoleProblem]:
    """Return what is wrong with the roles of a group, the worst first."""
    settings = find_failover(picture.group.pk)
    found = [
        *_iter_family_problems(picture.families),
        *_iter_flapping(picture.group, now),
        *_iter_gateway_problems(picture, now),
        *(_iter_state_problems(picture.families) if settings and settings.cache == Failover.Cache.DIRECT else ()),
    ]
    return sorted(found, key=lambda each: _ORDER.index(each.kind))


def _iter_family_problems(families: Sequence[FamilyPicture]) -> Iterator[RoleProblem]:
    for each in families:
        given = {"family": each.family, "gateways": each.carrier_names, "preferred": each.preferred}
        if each.deviation is Deviation.NOBODY:
            yield RoleProblem(StateKind.BAD, _("No gateway carries IPv%(family)d.") % given)
        elif each.deviation is Deviation.SEVERAL:
            words = _("%(gateways)s carry IPv%(family)d at the same time. Are both links between them cut, or does a switch drop VRRP?")
            yield RoleProblem(StateKind.BAD, words % given)
        elif each.deviation is Deviation.NOT_PREFERRED:
            words, missing = _("IPv%(family)d is carried by %(gateways)s, and %(preferred)s is preferred."), each.preferred
            yield RoleProblem(StateKind.WARN, words % given, gateways=frozenset({missing.pk} if missing else ()))


def _iter_flapping(group: GatewayGroup, now: datetime) -> Iterator[RoleProblem]:
    """Yield a problem for each family that moves again and again."""
    cause = CarrierChange.Cause
    asked = (cause.FIRST, cause.SWITCH, cause.INSTALL, cause.DRAINED)
    recent = CarrierChange.objects.filter(group=group, at__gte=now - DAY).exclude(cause__in=asked)
    for row in recent.order_by("family").values("family").annotate(moves=Count("id")).filter(moves__gt=RESTLESS):
        words = _("IPv%(family)d moved %(moves)d times within a day, and nobody asked for it. A longer interval or failback calms it.")
        yield RoleProblem(StateKind.WARN, words % row)


def _iter_gateway_problems(picture: RolesPicture, now: datetime) -> Iterator[RoleProblem]:
    for status in picture.statuses:
        yield from (replace(each, gateways=frozenset({status.gateway_id})) for each in _iter_problems_of(status, picture, now))


def _iter_problems_of(status: FailoverStatus, picture: RolesPicture, now: datetime) -> Iterator[RoleProblem]:
    name = {"gateway": status.gateway.name}
    if status.problem:
        given = name | {"problem": status.problem}
        words, kind = _("%(gateway)s does not tell its roles: %(problem)s"), StateKind.WARN if status.seen else StateKind.PLAIN
        yield RoleProblem(kind, words % given, status.gateway.pk)
    elif status.seen is None or now - status.seen > SILENT:
        yield RoleProblem(StateKind.WARN, _("%(gateway)s was not asked lately.") % name, status.gateway.pk)
    else:
        yield from _iter_program_problems(status, name)
        yield from (RoleProblem(StateKind.WARN, text) for text in iter_drift_texts(status))
        yield from _iter_standby_problems(picture.list_roles_of(status), name)


def _iter_program_problems(status: FailoverStatus, name: dict[str, str]) -> Iterator[RoleProblem]:
    if is_idle(status, "elected"):
        words = _("keepalived does not run on %(gateway)s: it neither takes over nor hands over. See “systemctl status keepalived”.")
        yield RoleProblem(StateKind.BAD, words % name)
    if is_idle(status, "synchronised"):
        words = _(
            "conntrackd does not answer on %(gateway)s: members’ connections would end with a switch. See “systemctl status conntrackd”."
        )
        yield RoleProblem(StateKind.BAD, words % name)


def _iter_standby_problems(roles: Sequence[GatewayRole], name: dict[str, str]) -> Iterator[RoleProblem]:
    drained = [each.family for each in roles if each.is_drained]
    if drained:
        words = _("%(gateway)s is drained of %(families)s: until it is back again, it takes over only if no other gateway carries.")
        yield RoleProblem(StateKind.WARN, words % (name | {"families": join_family_names(drained)}))
    failing = [each.family for each in roles if each.role == GatewayRole.Role.FAULT and not each.is_drained and not each.carries]
    if failing:
        words = _("%(gateway)s cannot take over %(families)s: an interface has no carrier, or it does not forward.")
        yield RoleProblem(StateKind.WARN, words % (name | {"families": join_family_names(failing)}))


def _iter_state_problems(families: Sequence[FamilyPicture]) -> Iterator[RoleProblem]:
    """Yield a problem if the standby of a carrier has far fewer connections than it."""
    seen = set()
    for family in families:
        for carrier in family.carrying:
            for other in (each for each in family.roles if each.status_id != carrier.status_id and not each.status.problem):
                pair = (carrier.status, other.status)
                if lacks_states(*pair) and (carrier.status_id, other.status_id) not in seen:
                    seen.add((carrier.status_id, other.status_id))
                    yield RoleProblem(StateKind.WARN, describe_lacking_states(*pair), gateways=frozenset({other.status.gateway_id}))
