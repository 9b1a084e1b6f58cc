"""The status page for programs: Atom (RFC 4287), iCalendar (RFC 5545), and JSON in the shape of Statuspage's summary, which many know."""

import re
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from django.utils.feedgenerator import Atom1Feed
from django.utils.html import linebreaks
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.lib.ui.states import StateKind
from apps.preferences.declarations import NETWORK_NAME
from apps.preferences.selectors import read_setting
from apps.status.incidents.models import Incident
from apps.status.incidents.phase import IncidentPhase
from apps.status.network_services import Impact
from apps.status.page.addresses import PageAddresses, build_stable_id
from apps.status.page.status_view import StatusView, ToldIncident

if TYPE_CHECKING:
    from icalendar import Event

INDICATORS: Final = {StateKind.BAD: "major", StateKind.WARN: "minor", StateKind.MOVING: "maintenance", StateKind.OK: "none"}
COMPONENTS: Final = {StateKind.BAD: "major_outage", StateKind.WARN: "degraded_performance", StateKind.OK: "operational"}
IMPACTS: Final = {Impact.NONE: "none", Impact.DEGRADED: "minor", Impact.DOWN: "major"}
PHASES: Final = {
    IncidentPhase.PLANNED: "scheduled",
    IncidentPhase.OPEN: "in_progress",
    IncidentPhase.OVERDUE: "verifying",
    IncidentPhase.OVER: "completed",
    IncidentPhase.CALLED_OFF: "cancelled",
}
NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not have (2.2)."""
STAGES: Final = {"looking": "investigating", "found": "identified", "watching": "monitoring", "over": "resolved"}


def build_title() -> str:
    """Return the page's title."""
    return _("%(network)s: network status") % {"network": read_setting(NETWORK_NAME)}


def _list_told(view: StatusView) -> list[ToldIncident]:
    return [*view.open, *view.planned, *view.past]


def _fit_for_xml(text: str) -> str:
    """Return the text with � for each character that XML does not have: one that was stored somehow must not end the whole feed."""
    return NOT_IN_XML.sub("\ufffd", text)


def write_atom(view: StatusView, at: PageAddresses) -> str:
    """Return the feed: an entry for each update, the newest first."""
    feed = Atom1Feed(title=_fit_for_xml(build_title()), link=at.page, feed_url=at.atom, description="", language=get_language())
    updates = [(update, told) for told in _list_told(view) for update in told.updates]
    for update, told in sorted(updates, key=lambda each: (each[0].at, each[0].pk), reverse=True):
        feed.add_item(
            title=_fit_for_xml(f"{told.incident.title} ({update.get_stage_display()})"),
            link=at.find_incident(told.incident),
            description=_fit_for_xml(linebreaks(f"{told.scope}\n\n{update.text}", autoescape=True)),  # Django declares it as HTML
            unique_id=build_stable_id(f"update-{update.pk}"),
            pubdate=update.at,
            updateddate=update.at,
        )
    return str(feed.writeString("utf-8"))


def write_calendar(view: StatusView, at: PageAddresses) -> bytes:
    """Return the calendar: planned work, and what was. What goes on without a planned end lasts until now."""
    from icalendar import Calendar  # here, because it takes 3 MiB of each process that serves pages

    calendar = Calendar()
    for name, value in (("prodid", "-//Netzwart//status//"), ("version", "2.0"), ("x-wr-calname", build_title())):
        calendar.add(name, value)
    for told in _list_told(view):
        calendar.add_component(_build_event(told, view, at))
    return bytes(calendar.to_ical())


def _build_event(told: ToldIncident, view: StatusView, at: PageAddresses) -> "Event":
    from icalendar import Event

    incident, event = told.incident, Event()
    end = (
        incident.planned_end if told.phase in (IncidentPhase.PLANNED, IncidentPhase.CALLED_OFF) else incident.ended or incident.planned_end
    )
    event.add("uid", build_stable_id(f"incident-{incident.pk}"))
    event.add("dtstamp", view.written.astimezone(UTC))
    event.add("sequence", incident.version)
    event.add("dtstart", incident.began.astimezone(UTC))
    event.add("dtend", max(end or view.written, incident.began).astimezone(UTC))
    event.add("summary", incident.title)
    event.add("description", "\n\n".join([told.scope, *(each.text for each in told.updates[:1])]))
    event.add("url", at.find_incident(incident))
    event.add("status", "CANCELLED" if told.phase is IncidentPhase.CALLED_OFF else "CONFIRMED")
    return event


def build_summary(view: StatusView, at: PageAddresses) -> dict[str, Any]:
    """Return the summary for monitors. Times are in UTC."""
    told = _list_told(view)
    return {
        "page": {"name": build_title(), "url": at.page, "updated_at": view.written},
        "status": {"indicator": INDICATORS.get(view.kind, "unknown"), "description": view.summary},
        "components": [
            {"id": each.service.value, "name": each.name, "status": COMPONENTS.get(each.state.kind, "unknown")} for each in view.services
        ],
        "incidents": [_build_incident(each, at) for each in told if not each.incident.is_maintenance],
        "scheduled_maintenances": [_build_incident(each, at) for each in told if each.incident.is_maintenance],
    }


def _build_incident(told: ToldIncident, at: PageAddresses) -> dict[str, Any]:
    incident = told.incident
    newest = told.updates[0].stage if told.updates else "looking"
    return {
        "id": str(incident.pk),
        "name": incident.title,
        "status": PHASES[told.phase] if incident.kind == Incident.Kind.MAINTENANCE else "resolved" if incident.ended else STAGES[newest],
        "impact": IMPACTS[Impact(incident.impact)],
        "shortlink": at.find_incident(incident),
        "started_at": incident.began,
        "resolved_at": incident.ended,
        "scheduled_until": incident.planned_end,
        "components": incident.services,
        "houses": [each.name for each in incident.sites.all()],
        "incident_updates": [
            {"id": str(each.pk), "status": STAGES.get(each.stage, each.stage), "body": each.text, "created_at": each.at}
            for each in told.updates
        ],
    }
