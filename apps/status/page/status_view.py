"""The public status page as values: one sentence, each service over 90 days, what goes on, what is planned, and what was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import floor
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.status.availability.models import ServiceDay, ServiceLevel, ServiceState
from apps.status.availability.selectors import DayLevel, compute_reached_share, is_fresh, judge_day, list_days, list_states
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.incidents.phase import IncidentPhase, find_phase
from apps.status.incidents.scope_texts import describe_houses, describe_scope, describe_time
from apps.status.incidents.selectors import list_public_incidents
from apps.status.network_services import Impact, NetworkService

DAYS: Final = 90
BAR_WIDTH: Final = 4
"""Units of the drawing for a day; three of them are filled."""
PAST: Final = timedelta(days=14)
"""Time for which incidents that are over are shown with their updates."""


@dataclass(frozen=True)
class DayBar:
    """A day in a service's row: its level, its words for those who point at it or read the table, and its position in the drawing."""

    day: date
    level: DayLevel
    words: str
    x: int


@dataclass(frozen=True)
class ServiceLine:
    """A service: how it is now, 90 days, and the share of the known time in which it was reached ("" if too little is known)."""

    service: NetworkService
    name: str
    houses: str
    state: StateLabel
    bars: Sequence[DayBar]
    reached: str


@dataclass(frozen=True)
class ToldIncident:
    """An incident as it is published: when it was, and its public updates, the newest first."""

    incident: Incident
    phase: IncidentPhase
    time: str
    scope: str
    houses: str
    updates: Sequence[IncidentUpdate]
    next_update: datetime | None


@dataclass(frozen=True)
class StatusView:
    """Everything that the page shows. summary: what is so; follows: what is done, and by when more is told."""

    kind: StateKind
    summary: str
    follows: str
    services: Sequence[ServiceLine]
    open: Sequence[ToldIncident]
    planned: Sequence[ToldIncident]
    past: Sequence[ToldIncident]
    written: datetime


def build_status_view(now: datetime, *, with_day: bool = False) -> StatusView:
    """Build the view in the active language. A constant number of queries.

    with_day: times of today have their day, too, for a file, which is read on a later one when the portal writes no new one.
    """
    told = [_tell(each, now, with_day) for each in list_public_incidents(now - PAST)]
    going = [each for each in told if each.phase in (IncidentPhase.OPEN, IncidentPhase.OVERDUE)]
    states, days = list_states(), list_days(now, DAYS)
    lines = [_build_line(service, states.get(service), days.get(service, {}), going, now) for service in NetworkService]
    kind, summary, follows = _summarize(going, states, now, with_day)
    return StatusView(
        kind,
        summary,
        follows,
        lines,
        going,
        sorted((each for each in told if each.phase is IncidentPhase.PLANNED), key=lambda each: each.incident.began),
        [each for each in told if each.phase in (IncidentPhase.OVER, IncidentPhase.CALLED_OFF)],
        now,
    )


def _tell(incident: Incident, now: datetime, with_day: bool) -> ToldIncident:
    updates: Sequence[IncidentUpdate] = incident.told  # type: ignore[attr-defined]  # list_public_incidents brings them along
    promised = incident.next_update if incident.next_update and incident.next_update > now else None
    phase, time = find_phase(incident, now), describe_time(incident, now, with_day=with_day)
    return ToldIncident(incident, phase, time, describe_scope(incident), describe_houses(incident), updates, promised)


def _summarize(
    going: Sequence[ToldIncident], states: Mapping[str, ServiceState], now: datetime, with_day: bool
) -> tuple[StateKind, str, str]:
    """Return kind, sentence and what follows: of the worst incident that goes on, or else of what the probes have shown."""
    order = (Impact.DOWN, Impact.DEGRADED, Impact.NONE)
    worst = min(
        going, key=lambda each: (each.incident.is_maintenance, order.index(Impact(each.incident.impact)), each.incident.began), default=None
    )
    if worst:
        since = _("%(title)s since %(time)s.") % {
            "title": worst.incident.title,
            "time": formats.format_moment(worst.incident.began, now, with_seconds=False, with_day=with_day),
        }
        return _choose_kind(worst.incident), since, worst.updates[0].text if worst.updates else ""
    fresh = [each for each in states.values() if is_fresh(each, now)]
    for level, kind in ((ServiceLevel.DOWN, StateKind.BAD), (ServiceLevel.DEGRADED, StateKind.WARN)):
        if found := [each for each in fresh if each.level == level]:
            noticed = _describe_noticed(found, level, now, with_day)
            return kind, noticed, _("The portal has noticed it by itself. The network team is told by it.")
    if len(fresh) < len(NetworkService) or any(each.level == ServiceLevel.UNKNOWN for each in fresh):
        return StateKind.PLAIN, _("No fault is known."), _("Not everything could be tried lately.")
    return StateKind.OK, _("All works."), _("Packets came back over IPv4 and IPv6 a moment ago.")


def _describe_noticed(found: Sequence[ServiceState], level: ServiceLevel, now: datetime, with_day: bool) -> str:
    names = ", ".join(str(NetworkService(each.service).label).replace(",", "") for each in found)
    since = formats.format_moment(min(each.since for each in found), now, with_seconds=False, with_day=with_day)
    return _("%(services)s: %(level)s since %(time)s.") % {"services": names, "level": level.label, "time": since}


def _choose_kind(incident: Incident) -> StateKind:
    if incident.is_maintenance:
        return StateKind.MOVING
    return StateKind.BAD if incident.impact == Impact.DOWN else StateKind.WARN


def _build_line(
    service: NetworkService, state: ServiceState | None, days: Mapping[date, ServiceDay], going: Sequence[ToldIncident], now: datetime
) -> ServiceLine:
    about = [each for each in going if service in each.incident.services and each.incident.impact != Impact.NONE]
    today, told = timezone.localdate(now), {Impact(each.incident.impact) for each in about}
    every = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    bars = [_build_bar(place, day, days.get(day), told if day == today else set()) for place, day in enumerate(every)]
    houses = ", ".join(dict.fromkeys(each.houses for each in about if each.incident.sites.all()))
    share = compute_reached_share(days.values())
    reached = formats.format_percent(floor(share * 10_000) / 100, 2) if share is not None else ""  # 100 % only if nothing was missing
    return ServiceLine(service, str(service.label), houses, _build_state(state, told, now), bars, reached)


def _build_state(state: ServiceState | None, told: set[Impact], now: datetime) -> StateLabel:
    """Return the worse of what was told and what was seen."""
    seen = ServiceLevel(state.level) if state and is_fresh(state, now) else ServiceLevel.UNKNOWN
    if Impact.DOWN in told or seen is ServiceLevel.DOWN:
        return StateLabel(StateKind.BAD, str(ServiceLevel.DOWN.label))
    if Impact.DEGRADED in told or seen is ServiceLevel.DEGRADED:
        return StateLabel(StateKind.WARN, str(ServiceLevel.DEGRADED.label))
    if seen is ServiceLevel.UNKNOWN:
        return StateLabel(StateKind.PLAIN, str(ServiceLevel.UNKNOWN.label))
    return StateLabel(StateKind.OK, str(ServiceLevel.FINE.label))


def _build_bar(place: int, day: date, row: ServiceDay | None, told: set[Impact]) -> DayBar:
    level = judge_day(row)
    if Impact.DOWN in told:
        level = DayLevel.DOWN
    elif Impact.DEGRADED in told and level is not DayLevel.DOWN:
        level = DayLevel.DEGRADED
    return DayBar(day, level, f"{formats.format_day(day)}: {_describe_day(row, level)}", place * BAR_WIDTH)


def _describe_day(row: ServiceDay | None, level: DayLevel) -> str:
    if row is None or level is DayLevel.UNKNOWN:
        return str(level.label)
    parts = [(_("not reachable for %(time)s"), row.down), (_("slow or unstable for %(time)s"), row.degraded)]
    told = [words % {"time": formats.format_duration(seconds)} for words, seconds in parts if seconds >= 1]
    return ", ".join(told) or str(level.label)
