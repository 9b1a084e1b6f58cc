"""Alarms on the time line of an incident: when each began, who took care of it, and when it was over."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.alarms.models import Alarm
from apps.status.incidents.timeline import TimelineEntry, TimelineKind

MOST = 40


def iter_alarm_entries(since: datetime, until: datetime) -> Iterator[TimelineEntry]:
    """Yield what happened to alarms between the two times."""
    page = reverse("alarms:list")
    touched = Alarm.objects.filter(Q(began__lte=until), Q(ended=None) | Q(ended__gte=since)).select_related("seen_by").order_by("-began")
    for alarm in touched[:MOST]:
        title = {"alarm": alarm.title}
        seen = {**title, "who": alarm.seen_by.name if alarm.seen_by else _("somebody")}
        entries = (
            (alarm.began, TimelineKind.FAULT, _("Alarm: %(alarm)s") % title, alarm.evidence),
            (alarm.seen, TimelineKind.NOTE, _("%(who)s takes care of: %(alarm)s") % seen, ""),
            (alarm.gone if alarm.ended else None, TimelineKind.NOTE, _("Over: %(alarm)s") % title, ""),
        )
        for at, kind, words, detail in entries:
            if at and since <= at <= until:
                yield TimelineEntry(at, kind, words, detail, page)
