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
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway
from apps.status.incidents.attached_tickets import list_attached_tickets, list_suggested_tickets
from apps.status.incidents.charts import draw_incident_charts
from apps.status.incidents.models import Incident
from apps.status.incidents.phase import IncidentPhase, build_phase_label, find_phase
from apps.status.incidents.scope_texts import describe_scope, describe_time
from apps.status.incidents.timeline import TimelineEntry, build_timeline, find_change_before, list_chart_events
from apps.tickets.models import Ticket

PRECEDING: Final = timedelta(minutes=30)
MOST_MARKED: Final = 12


def build_incident_view(row: Incident, query: QueryDict, now: datetime) -> dict[str, Any]:
    """Return the context of the page. query: `period` of the charts, and `edits` for a time line with what
    people changed in the portal."""
    edits = bool(query.get("edits"))
    phase, entries = find_phase(row, now), build_timeline(row, now, edits=edits)
    period = chart_data.parse_period(query.get("period", "10h"))
    shown = _list_gateways(row)
    begun = phase is not IncidentPhase.PLANNED and phase is not IncidentPhase.CALLED_OFF
    attached = list(list_attached_tickets(row))
    drawn = draw_incident_charts(row, shown, period, list_chart_events(entries), now) if begun else None
    return {
        "row": row,
        "phase": phase,
        "state": build_phase_label(row, now),
        "truth": build_phase_label(row, now).kind if phase is not IncidentPhase.CALLED_OFF else StateKind.PLAIN,
        "scope": describe_scope(row),
        "time": describe_time(row, now),
        "lasted": _("for %(time)s") % {"time": formats.format_duration(((row.ended or now) - row.began).total_seconds())} if begun else "",
        "last": next((each for each in row.updates.select_related("by") if each.public), None),
        "before": _describe_change_before(row, entries),
        "late": row.next_update is not None and row.next_update <= now,
        "health": [(each, _build_figures(each, now)) for each in shown] if begun and not row.ended else [],
        "charts": drawn,
        "marked": [each for each in entries if drawn and each.is_marked and drawn.since <= each.at <= drawn.until][:MOST_MARKED],
        "period": period,
        "periods": list(chart_data.LABELS.items()),
        "each": chart_data.EACH[period],
        "entries": entries,
        "edits": edits,
        "begun": begun,
        "gateways": shown,
        "evidence": build_shown_evidence(list_archives([each.pk for each in shown], row.began - PRECEDING, row.ended)) if begun else [],
        "attached": attached,
        "answerable": sum(each.ticket.state != Ticket.State.SOLVED for each in attached),
        "suggested_number": list_suggested_tickets(row).count() if begun else 0,
    }


def _list_gateways(row: Incident) -> list[Gateway]:
    """Return the gateways that the incident names, or else those that carry something, with what their figures need."""
    every = list(gateways.list_gateways())
    named = set(row.gateways.values_list("pk", flat=True))
    return [each for each in every if each.pk in named] or [
        each.gateway for each in gateways.build_overviews(every, row.began) if each.carried
    ]


def _build_figures(gateway: Gateway, now: datetime) -> Any:
    return build_health_view(gateway, now, carries=True)


def _describe_change_before(row: Incident, entries: Sequence[TimelineEntry]) -> str:
    """Say what changed shortly before it began; "" if nothing did."""
    change = find_change_before(row, entries, PRECEDING)
    if change is None:
        return ""
    before = formats.format_duration((row.began - change.at).total_seconds())
    return _("It began %(before)s after: %(change)s.") % {"before": before, "change": change.words}
