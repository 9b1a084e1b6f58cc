"""Words for what an incident affects, and when: services, houses and times."""

from datetime import datetime

from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from apps.lib.ui import formats
from apps.status.incidents.models import Incident
from apps.status.network_services import NetworkService


def describe_services(incident: Incident) -> str:
    """Return the services: “Internet, IPv4 and IPv6” as a list of their names."""
    return ", ".join(str(NetworkService(each).label).replace(",", "") for each in incident.services)


def describe_houses(incident: Incident) -> str:
    """Return the affected houses; “all houses” if none is named."""
    names = [each.name for each in incident.sites.all()]
    if not names:
        return _("all houses")
    if len(names) > 4:
        words = ngettext("%(first)s and %(n)d more house", "%(first)s and %(n)d more houses", len(names) - 3)
        return words % {"first": ", ".join(names[:3]), "n": len(names) - 3}
    return ", ".join(names)


def describe_scope(incident: Incident) -> str:
    """Return both: “Internet IPv4, Internet IPv6: all houses”."""
    return f"{describe_services(incident)}: {describe_houses(incident)}"


def describe_time(incident: Incident, now: datetime, *, with_day: bool = False) -> str:
    """Return when it was, is or will be: “since 20:51”, “Tue 17 Nov, 02:00 to 02:20”, “called off”.

    with_day: today has its day, too, for a text that is read on a later one.
    """
    if incident.is_called_off:
        return _("called off")
    end = incident.ended or incident.planned_end
    begins = formats.format_moment(incident.began, now, with_seconds=False, with_day=with_day)
    if end is None:
        return _("since %(time)s") % {"time": begins}
    return _("%(begin)s to %(end)s") % {"begin": begins, "end": _format_end(incident.began, end, now, with_day)}


def _format_end(begin: datetime, end: datetime, now: datetime, with_day: bool) -> str:
    """Return the time of day alone if it is the same day, as people write it."""
    if timezone.localdate(begin) == timezone.localdate(end):
        return format_date(timezone.localtime(end), pgettext("time of day", "H:i"))
    return formats.format_moment(end, now, with_seconds=False, with_day=with_day)
