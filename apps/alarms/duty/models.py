"""Shifts of the duty rota, the calendars that some of them come from, and the links by which people subscribe to the rota."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned


@track_history(exclude=["target", "content", "etag", "last_modified", "due", "tried", "read", "error", "error_since", "unmatched"])
class DutyCalendar(Versioned):
    """An iCalendar file (RFC 5545) that shifts come from: fetched from an address, or uploaded.

    target: the address, encrypted, because it often is as good as a password; "" if a file was uploaded. shown: where it comes from,
    without secrets. content: what was fetched or uploaded last. etag, last_modified: validators of that. due: time of the next reading.
    tried, read: times of the last try, and of the last one that succeeded. error, error_since: why the last try failed, as a code and
    what is at fault, and since when. unmatched: events that are nobody's shift, each with the reason (`calendar_reading.py`).
    """

    name = models.CharField(_("name"), max_length=80)
    target = models.TextField(blank=True)
    shown = models.CharField(_("address"), max_length=300)
    active = models.BooleanField(_("active"), default=True)
    content = models.BinaryField(default=bytes)
    etag = models.CharField(max_length=300, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    due = models.DateTimeField(db_default=Now())
    tried = models.DateTimeField(null=True)
    read = models.DateTimeField(null=True)
    error = models.JSONField(default=list)
    error_since = models.DateTimeField(null=True)
    unmatched = models.JSONField(default=list)

    class Meta:
        verbose_name = _("calendar of shifts")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["name"], name="dutycalendar_name"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(shown=""), name="dutycalendar_comes_from_somewhere"),
        ]

    def __str__(self) -> str:
        return self.name


@track_history()
class DutyShift(models.Model):
    """A time in which one person is told of alarms first.

    Shifts may overlap: what people enter counts before what comes from a calendar, and then the newer before the older (`rota.py`).
    calendar, uid: the calendar that it comes from, and the event there; none: a person entered it. by: who did, None for a calendar.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="duty_shifts", verbose_name=_("person"))
    begins = models.DateTimeField(_("begins"))
    ends = models.DateTimeField(_("ends"))
    calendar = models.ForeignKey(DutyCalendar, models.CASCADE, null=True, related_name="shifts", verbose_name=_("calendar"))
    uid = models.CharField(max_length=100, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("shift")
        ordering = ["begins", "id"]
        indexes = [models.Index(fields=["ends"], name="dutyshift_by_end")]
        constraints = [
            models.CheckConstraint(condition=Q(ends__gt=F("begins")), name="dutyshift_ends_after_it_begins"),
            models.CheckConstraint(
                condition=Q(calendar=None, uid="") | (Q(calendar__isnull=False) & ~Q(uid="")), name="dutyshift_of_a_calendar_has_its_event"
            ),
            models.UniqueConstraint(fields=["calendar", "uid"], name="dutyshift_once_in_a_calendar"),
        ]

    def __str__(self) -> str:
        return self.person.name


class DutyFeed(models.Model):
    """The link by which one account's calendar programs subscribe to the rota. serial: raised to make older links worthless."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", primary_key=True)
    serial = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(serial__gte=1), name="dutyfeed_serial")]

    def __str__(self) -> str:
        return str(self.user_id)
