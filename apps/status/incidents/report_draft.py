"""The draft of a report: the time line of an incident as text, with headings to write below."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from apps.lib.ui import formats
from apps.status.incidents.models import Incident
from apps.status.incidents.timeline import TimelineEntry, TimelineKind


def write_draft(incident: Incident, entries: Sequence[TimelineEntry], tickets: int, now: datetime) -> str:
    """Return the draft in the active language: what is known is filled in, the rest is asked."""
    ended = incident.ended or now
    facts = {
        "title": incident.title,
        "began": formats.format_moment(incident.began, now, with_zone=True),
        "ended": formats.format_moment(ended, now, with_zone=True),
        "lasted": formats.format_duration((ended - incident.began).total_seconds()),
        "tickets": formats.format_number(tickets),
    }
    parts = [
        _("%(title)s: from %(began)s to %(ended)s, %(lasted)s. Tickets: %(tickets)s.") % facts,
        "## " + _("What members noticed"),
        "## " + _("Time line"),
        "\n".join(_write_line(each, now) for each in reversed(entries) if _belongs(each, incident)),
        "## " + _("Why it happened"),
        "## " + _("What helped, and what did not"),
        "## " + _("What will be different next time, who does it, and by when"),
    ]
    return "\n\n".join(parts) + "\n"


def _belongs(entry: TimelineEntry, incident: Incident) -> bool:
    """Leave out the many small changes before it began: what was deployed then names them."""
    return entry.at >= incident.began or entry.kind is not TimelineKind.EDIT


def _write_line(entry: TimelineEntry, now: datetime) -> str:
    detail = " ".join(entry.detail.split())
    return f"- {formats.format_moment(entry.at, now)} {entry.words}{f': {detail}' if detail else ''}"
