"""Reading gateways: whether they answer, what they run, and what they carry."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.rollouts.progress import carries
from apps.deployments.selectors import rollouts_in
from apps.gateways.drift_texts import Drifted, PastDrift, drifted, drifted_before
from apps.gateways.kernel_gauges import table_of
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, State
from apps.network.models import Gateway, GatewayGroup, Pool

ASKED_WITHIN = 120.0  # seconds after which an answer is no evidence any more; two turns of the collector, where that comes less often


@dataclass(frozen=True)
class Line:
    """A line of truth: a kind, a sentence, and what follows from it."""

    kind: Kind
    sentence: str
    follows: str = ""


@dataclass(frozen=True)
class Shown:
    """A gateway with what is known of it; `status` is None before it ever was asked."""

    gateway: Gateway
    status: GatewayState | None
    state: State
    carries: str
    line: Line
    drift: Drifted | None
    before: list[PastDrift]
    alone: bool  # carries both families while the others of its group do not answer


def gateways() -> QuerySet[Gateway]:
    """All gateways, by group and name, with their state."""
    return Gateway.objects.select_related("group__profile", "status__revision", "status__gateway__group").order_by("group__name", "name")


def shown(rows: list[Gateway], now: datetime) -> list[Shown]:
    """What pages say of these gateways; all of a group must be among them."""
    return [_shown(row, [other for other in rows if other.group_id == row.group_id and other != row], now) for row in rows]


def status_of(gateway: Gateway) -> GatewayState | None:
    """What was last seen of it."""
    return getattr(gateway, "status", None)


def _away(gateway: Gateway) -> bool:
    status = status_of(gateway)
    return status is None or status.unreachable_since is not None


def _shown(gateway: Gateway, others: list[Gateway], now: datetime) -> Shown:
    status = status_of(gateway)
    alone = gateway.carries4 and gateway.carries6 and bool(others) and all(map(_away, others))
    line = _line(gateway, status, [other.name for other in others if _away(other)] if alone else [], now)
    drift = drifted(status)
    return Shown(
        gateway, status, _state(status, now), carries(gateway.carries4, gateway.carries6), line, drift, drifted_before(status), alone
    )


def asked_within() -> timedelta:
    """How old a gateway's last answer may be before a page says that nobody asks."""
    return timedelta(seconds=max(ASKED_WITHIN, 2 * settings.COLLECT_SECONDS))


def _overdue(status: GatewayState, now: datetime) -> bool:
    return status.seen is None or now - status.seen > asked_within()


def _state(status: GatewayState | None, now: datetime) -> State:
    if status is None:
        return State(Kind.PLAIN, _("Not asked yet"))
    if status.unreachable_since:
        return State(
            Kind.BAD, _("Unreachable since %(time)s") % {"time": formats.moment(status.unreachable_since, now, with_seconds=False)}
        )
    if _overdue(status, now):
        return State(Kind.WARN, _("Not asked lately"), "overdue")
    return State(Kind.OK, _("Reachable, in memory") if status.in_memory else _("Reachable"))


def _line(gateway: Gateway, status: GatewayState | None, missing: list[str], now: datetime) -> Line:
    given = {"gateway": gateway.name, "others": ", ".join(missing)}
    if status is None:
        return Line(
            Kind.PLAIN, _("%(gateway)s has not been asked yet.") % given, _("The workers ask every gateway several times a minute.")
        )
    if status.unreachable_since:
        since = given | {"time": formats.moment(status.unreachable_since, now, with_zone=True, with_seconds=False)}
        return Line(
            Kind.BAD,
            _("%(gateway)s has not answered the portal since %(time)s.") % since,
            _("It may forward all the same: it needs no portal for that. Changes are saved and will follow by themselves."),
        )
    if _overdue(status, now):
        return Line(
            Kind.WARN, _("Nobody has asked %(gateway)s lately.") % given, _("Do the workers run? What stands here may be out of date.")
        )
    if missing:
        return Line(
            Kind.WARN,
            _("%(gateway)s carries IPv4 and IPv6 alone.") % given,
            _("%(others)s does not answer and could not take over.") % given,
        )
    if drift := drifted(status):
        return Line(Kind.WARN, drift.sentence, f"{drift.what[:1].upper()}{drift.what[1:]}. {drift.follows}")
    if status.disk:
        follows = _("%(why)s. Until that is mended it takes no change; then what it misses follows by itself.") % {"why": status.disk}
        return Line(Kind.WARN, _("%(gateway)s cannot write to its disk.") % given, follows)
    if (table := table_of(status, None)) and table.kind is Kind.WARN:
        full = _("The connection table of %(gateway)s is %(percent)d %% full.") % (given | {"percent": table.percent})
        return Line(Kind.WARN, full, _("When it is full, nobody can open a connection. Its profile says how many it takes."))
    if status.revision is None:
        return Line(Kind.WARN, _("%(gateway)s answers and runs nothing of ours yet.") % given)
    return _running(gateway, status, now)


def _running(gateway: Gateway, status: GatewayState, now: datetime) -> Line:
    since = formats.moment(status.since, now, with_zone=True) if status.since else _("unknown")
    sentence = _("%(gateway)s answers and runs %(revision)s.") % {"gateway": gateway.name, "revision": status.revision}
    memory = _("It runs in memory: no packet passes through it.") if status.in_memory else ""
    return Line(Kind.OK, sentence, " ".join(filter(None, [_("Confirmed %(time)s.") % {"time": since}, memory])))


def worst(rows: list[Shown]) -> Line | None:
    """The line of the list: the worst of the gateways'; when all is well, that they all answer."""
    order = (Kind.BAD, Kind.WARN, Kind.PLAIN, Kind.OK)
    lines = sorted((row.line for row in rows), key=lambda line: order.index(line.kind))
    if not lines or lines[0].kind is not Kind.OK:
        return lines[0] if lines else None
    memory = _("They run in memory: no packet passes through them.") if any(row.status and row.status.in_memory for row in rows) else ""
    if _alike(rows):
        return Line(Kind.OK, _("All gateways answer and run what was last confirmed."), memory)
    runs = ", ".join(f"{row.gateway.name} {row.status.revision}" for row in rows if row.status)
    return Line(Kind.MOVING, _("All gateways answer, but they do not run the same yet."), f"{runs}.")


def _alike(rows: list[Shown]) -> bool:
    """Do the gateways of each group run one revision?"""
    runs = {(row.gateway.group_id, row.status.revision_id if row.status else None) for row in rows}
    return len(runs) == len({group for group, _revision in runs})


def uncarried(group: GatewayGroup) -> list[str]:
    """The address families that no gateway of the group is primary for."""
    members = list(group.gateways.all())
    families = {"IPv4": any(each.carries4 for each in members), "IPv6": any(each.carries6 for each in members)}
    return [name for name, carried in families.items() if not carried]


def pools_of(group: GatewayGroup) -> QuerySet[Pool]:
    """The group's pools, with how many addresses or prefixes of each are held (private, IPv6) or left as (public)."""
    held = Count("holdings", Q(holdings__valid__contains=Now()), distinct=True)
    mapped = Count("natmappings__public", Q(natmappings__valid__contains=Now()), distinct=True)
    return Pool.objects.filter(group=group).annotate(held=held, mapped=mapped)


def last_rollouts_of(gateway: Gateway, most: int) -> list[Rollout]:
    """The last rollouts that the gateway took part in."""
    return list(rollouts_in("").filter(steps__gateway=gateway)[:most])
