"""The page of an incident: the sentence at the top, figures, charts, time line and tickets."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.gateways import selectors as gateways
from apps.gateways.evidence.presentation import build_shown_evidence
from apps.gateways.evidence.selectors import list_archives
from apps.gateways.health import chart_data
from apps.gateways.health.presentation import build_health_view
from apps.lib.ui import formats
from apps.status.incidents.attached_tickets import list_answerable_tickets, list_attached_tickets, list_suggested_tickets
from apps.status.incidents.charts import draw_incident_charts
from apps.status.incidents.models import Incident
from apps.status.incidents.phase import IncidentPhase, build_phase_label, find_phase
from apps.status.incidents.scope_texts import describe_scope, describe_time
from apps.status.incidents.timeline import TimelineEntry, build_timeline, find_change_before, list_chart_events

PRECEDING: Final = timedelta(minutes=30)
MOST_MARKED: Final = 12


def build_incident_view(row: Incident, query: QueryDict, now: datetime) -> dict[str, Any]:
    """Return the context of the page. query: `period` of the charts, and `edits` for a time line with what people changed in the portal."""
    phase, edits = find_phase(row, now), bool(query.get("edits"))
    entries = build_timeline(row, now, edits=edits)
    begun = phase not in (IncidentPhase.PLANNED, IncidentPhase.CALLED_OFF)
    return {
        "row": row,
        "phase": phase,
        "begun": begun,
        "entries": entries,
        "edits": edits,
        **_build_facts(row, entries, now, begun=begun),
        **(_build_gateways_part(row, query, entries, now) if begun else {}),
        **(_build_tickets_part(row) if begun else {}),
    }


def _build_facts(row: Incident, entries: Sequence[TimelineEntry], now: datetime, *, begun: bool) -> dict[str, Any]:
    """Return what stands at the top: state, what is affected, since when, and what was told last."""
    lasted = formats.format_duration(((row.ended or now) - row.began).total_seconds())
    return {
        "state": build_phase_label(row, now),
        "scope": describe_scope(row),
        "time": describe_time(row, now),
        "lasted": _("for %(time)s") % {"time": lasted} if begun else "",
        "last": row.updates.filter(public=True).first(),
        "before": _describe_change_before(row, entries),
        "late": row.next_update is not None and row.next_update <= now,
    }


def _build_gateways_part(row: Incident, query: QueryDict, entries: Sequence[TimelineEntry], now: datetime) -> dict[str, Any]:
    """Return figures, charts and evidence of the gateways that the incident names, or else of those that carry something."""
    every = gateways.build_overviews(list(gateways.list_gateways()), now)
    named = set(row.gateways.values_list("pk", flat=True))
    overviews = [each for each in every if each.gateway.pk in named] or [each for each in every if each.carried]
    shown = [each.gateway for each in overviews]
    period = chart_data.parse_period(query.get("period", "10h"))
    drawn = draw_incident_charts(row, shown, period, list_chart_events(entries), now)
    figures = [] if row.ended else [(each.gateway, build_health_view(each.gateway, now, carries=bool(each.carried))) for each in overviews]
    return {
        "gateways": shown,
        "health": figures,
        "charts": drawn,
        "marked": [each for each in entries if each.is_marked and drawn.since <= each.at <= drawn.until][:MOST_MARKED],
        "period": period,
        "periods": list(chart_data.LABELS.items()),
        "each": chart_data.EACH[period],
        "evidence": build_shown_evidence(list_archives([each.pk for each in shown], row.began - PRECEDING, row.ended)),
    }


def _build_tickets_part(row: Incident) -> dict[str, Any]:
    """Return the attached tickets, how many of them are to be answered, and how many more may be about it."""
    attached = list(list_attached_tickets(row))
    return {
        "attached": attached,
        "answerable": list_answerable_tickets(row).count(),
        "suggested_number": list_suggested_tickets(row).count(),
    }


def _describe_change_before(row: Incident, entries: Sequence[TimelineEntry]) -> str:
    """Say what changed shortly before it began; "" if nothing did."""
    change = find_change_before(row, entries, PRECEDING)
    if change is None:
        return ""
    before = formats.format_duration((row.began - change.at).total_seconds())
    return _("It began %(before)s after: %(change)s.") % {"before": before, "change": change.words}
