"""Queries about gateways: whether they answer, what they run, and which address families they are primary for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.models import Listener, Reachable
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.rollouts.progress import render_primary_families
from apps.deployments.selectors import list_rollouts_in_state
from apps.gateways.agent_texts import get_own_release, is_agent_older
from apps.gateways.drift_texts import DriftText, PastDrift, describe_drift, list_past_drift
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.kernel_gauges import find_connection_table
from apps.gateways.roles.picture import map_carried_families
from apps.lib.database.validity import is_valid_now_or_later
from apps.lib.dependents import EndedCount
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.lib.web.frame_reads import read_with_frame
from apps.members.models import Tariff
from apps.network.count_texts import format_holding_count
from apps.network.gateway_sentences import translate_about_gateway
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.traffic.models import FairShare

ASKED_WITHIN = 120.0  # seconds after which an answer is outdated; two runs of the collector, if it runs less often


@dataclass(frozen=True)
class GatewayStatusLine:
    """A status line: its kind, a sentence, and what follows from it."""

    kind: StateKind
    sentence: str
    follows: str = ""


@dataclass(frozen=True)
class GatewayOverview:
    """A gateway with what is known about it; `status` is None if it has never been asked.

    carried: the address families that it carries: as it reports where its failover is managed here, else those it is primary for.
    """

    gateway: Gateway
    status: GatewayState | None
    state: StateLabel
    carries: str
    line: GatewayStatusLine
    drift: DriftText | None
    before: list[PastDrift]
    alone: bool  # carries both families while the other gateways of its group do not answer
    carried: frozenset[int]

    @property
    def is_agent_older(self) -> bool:
        """True if its agent speaks only an older version of the protocol."""
        return self.status is not None and is_agent_older(self.status.protocol)

    @property
    def error(self) -> str:
        """What is wrong with it, as it or the connection to it said; "" if nothing is."""
        return translate_about_gateway(self.status.error) if self.status else ""

    @property
    def carries4(self) -> bool:
        return 4 in self.carried

    @property
    def carries6(self) -> bool:
        return 6 in self.carried


def list_outdated_agents(shown: Iterable[GatewayOverview]) -> list[str]:
    """Return the names of those gateways that told another version of their agent than this portal's."""
    ours = get_own_release()
    return [each.gateway.name for each in shown if each.status and each.status.agent not in ("", ours)]


def list_gateways() -> QuerySet[Gateway]:
    """Return all gateways with their state and that of their health, by group and name."""
    beside = ("group__profile", "status__revision", "status__gateway__group", "health")
    return Gateway.objects.select_related(*beside).order_by("group__name", "name")


@read_with_frame
def list_cached_gateways() -> QuerySet[Gateway]:
    """Return the same as `list_gateways`, read once for a page, without the long text of revisions."""
    return list_gateways().defer("status__revision__delta")


def list_retired() -> QuerySet[Gateway]:
    """Return the gateways that are out of service, the last one first."""
    return Gateway.ever.exclude(retired=None).select_related("group", "status__revision").order_by("-retired", "name")


def build_culprit_url(culprit: object) -> str:
    """Return the page of the object that is in the way of a change; "" without one."""
    routes = {Rollout: "deployments:rollout", GatewayGroup: "gateways:group", Gateway: "gateways:gateway"}
    route = next((route for kind, route in routes.items() if isinstance(culprit, kind)), None)
    return reverse(route, args=[culprit.pk]) if route else ""  # type: ignore[attr-defined]  # a row of one of these models


def build_overviews(rows: list[Gateway], now: datetime) -> list[GatewayOverview]:
    """Build the overviews of these gateways. `rows` must contain all gateways of each group."""
    carried = map_carried_families(rows)
    return [
        _build_overview(row, [other for other in rows if other.group_id == row.group_id and other != row], carried[row.pk], now)
        for row in rows
    ]


def find_gateway_status(gateway: Gateway) -> GatewayState | None:
    """Return what was last seen of the gateway, None if it has never been asked."""
    return getattr(gateway, "status", None)


def _is_away(gateway: Gateway) -> bool:
    status = find_gateway_status(gateway)
    return status is None or status.unreachable_since is not None


def _build_overview(gateway: Gateway, others: list[Gateway], carried: frozenset[int], now: datetime) -> GatewayOverview:
    status = find_gateway_status(gateway)
    alone = carried == {4, 6} and bool(others) and all(map(_is_away, others))
    line = _build_line(gateway, status, [other.name for other in others if _is_away(other)] if alone else [], now)
    drift = describe_drift(status)
    return GatewayOverview(
        gateway,
        status,
        _build_state(status, now),
        render_primary_families(4 in carried, 6 in carried),
        line,
        drift,
        list_past_drift(status),
        alone,
        carried,
    )


def get_max_answer_age() -> timedelta:
    """Return the age of a gateway's last answer above which a page warns that it is not polled."""
    return timedelta(seconds=max(ASKED_WITHIN, 2 * settings.COLLECT_SECONDS))


def _is_overdue(status: GatewayState, now: datetime) -> bool:
    return status.seen is not None and now - status.seen > get_max_answer_age()


def _is_unasked(status: GatewayState) -> bool:
    """True if the gateway's machine has never answered and never failed to: it is new."""
    return status.seen is None and status.unreachable_since is None


def _build_state(status: GatewayState | None, now: datetime) -> StateLabel:
    if status is None or _is_unasked(status):
        return StateLabel(StateKind.PLAIN, _("Not polled yet"))
    if status.unreachable_since:
        return StateLabel(
            StateKind.BAD,
            _("Unreachable since %(time)s") % {"time": formats.format_moment(status.unreachable_since, now, with_seconds=False)},
        )
    if _is_overdue(status, now):
        return StateLabel(StateKind.WARN, _("Not polled recently"), "overdue")
    return StateLabel(StateKind.OK, _("Reachable, in memory") if status.in_memory else _("Reachable"))


def _build_line(gateway: Gateway, status: GatewayState | None, missing: list[str], now: datetime) -> GatewayStatusLine:
    given = {"gateway": gateway.name, "others": ", ".join(missing)}
    if status is None or _is_unasked(status):
        return GatewayStatusLine(
            StateKind.PLAIN, _("%(gateway)s has not been polled yet.") % given, _("The workers poll every gateway several times a minute.")
        )
    if status.unreachable_since:
        since = given | {"time": formats.format_moment(status.unreachable_since, now, with_zone=True, with_seconds=False)}
        return GatewayStatusLine(
            StateKind.BAD,
            _("%(gateway)s has not answered the portal since %(time)s.") % since,
            _("It may still forward traffic: it does not need the portal for that. Changes are saved and will follow by themselves."),
        )
    if _is_overdue(status, now):
        return GatewayStatusLine(
            StateKind.WARN,
            _("%(gateway)s has not been polled recently.") % given,
            _("Are the workers running? The information here may be out of date."),
        )
    if missing:
        return GatewayStatusLine(
            StateKind.WARN,
            _("%(gateway)s carries IPv4 and IPv6 alone.") % given,
            _("No answer from %(others)s: a takeover is not possible.") % given,
        )
    if drift := describe_drift(status):
        return GatewayStatusLine(StateKind.WARN, drift.sentence, f"{drift.what[:1].upper()}{drift.what[1:]}. {drift.follows}")
    if status.disk:
        follows = _("%(why)s. Until that is fixed it takes no changes; then it catches up by itself.") % {
            "why": translate_about_gateway(status.disk)
        }
        return GatewayStatusLine(StateKind.WARN, _("%(gateway)s cannot write to its disk.") % given, follows)
    if (table := find_connection_table(status, None)) and table.kind is StateKind.WARN:
        full = _("The connection table of %(gateway)s is %(percent)d %% full.") % (given | {"percent": table.percent})
        return GatewayStatusLine(
            StateKind.WARN, full, _("When it is full, nobody can open a connection. Its profile says how many it takes.")
        )
    if line := build_queue_line(gateway, status):
        return line
    if status.revision is None:
        return GatewayStatusLine(StateKind.WARN, _("%(gateway)s answers, but has no ruleset from the portal yet.") % given)
    return _build_running_line(gateway, status, now)


def build_queue_line(gateway: Gateway, status: GatewayState | None) -> GatewayStatusLine | None:
    """Return the line that says why the gateway runs without the fair queues of its uplink; None if it has them, or needs none."""
    if status is None or not status.unshaped:
        return None
    sentence = _("%(gateway)s runs without the fair queues of its uplink.") % {"gateway": gateway.name}
    follows = _("%(why)s. Everything else is in force, and it tries again by itself.") % {
        "why": capfirst(translate_about_gateway(status.unshaped))
    }
    return GatewayStatusLine(StateKind.WARN, sentence, follows)


def _build_running_line(gateway: Gateway, status: GatewayState, now: datetime) -> GatewayStatusLine:
    since = formats.format_moment(status.since, now, with_zone=True) if status.since else _("unknown")
    sentence = _("%(gateway)s answers and runs %(revision)s.") % {"gateway": gateway.name, "revision": status.revision}
    memory = _("It keeps its rules in memory only: no packets pass through it.") if status.in_memory else ""
    return GatewayStatusLine(StateKind.OK, sentence, " ".join(filter(None, [_("Confirmed %(time)s.") % {"time": since}, memory])))


def find_worst_status(rows: list[GatewayOverview]) -> GatewayStatusLine | None:
    """Return the status line of the list: the worst of all gateways, or a line that all of them answer."""
    order = (StateKind.BAD, StateKind.WARN, StateKind.PLAIN, StateKind.OK)
    lines = sorted((row.line for row in rows), key=lambda line: order.index(line.kind))
    if not lines or lines[0].kind is not StateKind.OK:
        return lines[0] if lines else None
    memory = (
        _("They keep their rules in memory only: no packets pass through them.")
        if any(row.status and row.status.in_memory for row in rows)
        else ""
    )
    if _is_alike(rows):
        return GatewayStatusLine(StateKind.OK, _("All gateways answer and run the last confirmed revision."), memory)
    runs = ", ".join(f"{row.gateway.name} {row.status.revision}" for row in rows if row.status)
    return GatewayStatusLine(StateKind.MOVING, _("All gateways answer, but they do not run the same revision yet."), f"{runs}.")


def _is_alike(rows: list[GatewayOverview]) -> bool:
    """True if the gateways of each group run the same revision."""
    runs = {(row.gateway.group_id, row.status.revision_id if row.status else None) for row in rows}
    return len(runs) == len({group for group, _revision in runs})


def list_families_without_primary(group: GatewayGroup) -> list[str]:
    """Return the address families that no gateway of the group is primary for."""
    members = list(group.gateways.all())
    families = {"IPv4": any(each.carries4 for each in members), "IPv6": any(each.carries6 for each in members)}
    return [name for name, carried in families.items() if not carried]


def list_pools(group: GatewayGroup) -> QuerySet[Pool]:
    """Return the group's pools with the number of addresses or prefixes that are held (private, IPv6) or mapped to (public)."""
    held = Count("holdings", Q(holdings__valid__contains=Now()), distinct=True)
    mapped = Count("natmappings__public", Q(natmappings__valid__contains=Now()), distinct=True)
    return Pool.objects.filter(group=group).annotate(held=held, mapped=mapped)


def list_last_rollouts(gateway: Gateway, most: int) -> list[Rollout]:
    """Return the last rollouts that the gateway took part in."""
    return list(list_rollouts_in_state("").filter(steps__gateway=gateway)[:most])


@dataclass(frozen=True, slots=True)
class GroupDependents(EndedCount):
    """Rows of one kind that depend on a group. first: one of them; url: the page where they are, for a link."""

    first: Any
    url: str


def list_dependents(group: GatewayGroup) -> list[GroupDependents]:
    """Return what a group cannot be removed with, without empty kinds: one query for each kind, and one for the first row."""
    exempt = FairShare.exempt.through._default_manager.filter(fairshare__group=group).values("tariff")
    found = (
        _describe_rows(group.gateways.order_by("name"), _count_gateways, "gateways:gateway"),
        _describe_rows(JoiningMachine.objects.filter(group=group), _count_joining, "gateways:joining"),
        _describe_rows(group.pools.order_by("name"), _count_pools, "network:pool"),
        _describe_rows(Holding.objects.filter(is_valid_now_or_later(), group=group), format_holding_count, "network:pool", "pool_id"),
        _describe_rows(Listener.objects.filter(group=group).order_by("name"), _count_listeners, "bans:listener"),
        _describe_rows(Reachable.objects.filter(notice__group=group), _count_reachable, "bans:notice", of=group),
        _describe_rows(Tariff.objects.filter(pk__in=exempt), _count_exempt, "fairshare:edit", of=group),
        _describe_rows(Rollout.objects.filter(group=group).order_by("-pk"), _count_rollouts, "deployments:rollout"),
    )
    return [each for each in found if each]


def _describe_rows(
    rows: QuerySet[Any], words: Callable[[int], str], route: str, key: str = "pk", of: GatewayGroup | None = None
) -> GroupDependents | None:
    """Return the number of rows and the first; None if there are none. route: of the page of the row with this key, or of the group."""
    number = rows.count()
    first = rows.first() if number else None
    if first is None:
        return None
    return GroupDependents(number, words(number), first, reverse(route, args=[of.pk if of else getattr(first, key)]))


def _count_gateways(number: int) -> str:
    return ngettext("%(number)d gateway", "%(number)d gateways", number) % {"number": number}


def _count_joining(number: int) -> str:
    return ngettext("%(number)d joining machine", "%(number)d joining machines", number) % {"number": number}


def _count_pools(number: int) -> str:
    return ngettext("%(number)d pool", "%(number)d pools", number) % {"number": number}


def _count_listeners(number: int) -> str:
    return ngettext("%(number)d listener", "%(number)d listeners", number) % {"number": number}


def _count_reachable(number: int) -> str:
    text = ngettext("%(number)d port that blocked members still reach", "%(number)d ports that blocked members still reach", number)
    return text % {"number": number}


def _count_exempt(number: int) -> str:
    text = ngettext("%(number)d tariff exempt from fair sharing", "%(number)d tariffs exempt from fair sharing", number)
    return text % {"number": number}


def _count_rollouts(number: int) -> str:
    return ngettext("%(number)d rollout in its history", "%(number)d rollouts in its history", number) % {"number": number}
