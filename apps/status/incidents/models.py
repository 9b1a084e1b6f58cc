"""Incidents with their updates, and the tickets that are about one."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.members.models import Site
from apps.network.models import Gateway
from apps.status.network_services import Impact, NetworkService
from apps.status.translated_text import pick_language
from apps.tickets.models import Ticket


@track_history()
class Incident(Versioned):
    """A fault that members notice, or planned work that they may notice.

    services: what is affected (`NetworkService`). sites: the houses that are; none: all. gateways: for staff, never published. began:
    of planned work the planned beginning, planned_end its planned end. ended: when it was over; work that was called off has ended
    before it began. next_update: when members are promised to hear more. public: staff alone see it otherwise. attach_tickets: tickets
    that were opened after it began, from an affected house, are attached by themselves. report: what was learned from it, for staff.
    """

    class Kind(models.TextChoices):
        FAULT = "fault", _("fault")
        MAINTENANCE = "maintenance", _("planned work")

    kind = models.CharField(_("kind"), max_length=11, choices=Kind, default=Kind.FAULT)
    title_en = models.CharField(_("title in English"), max_length=120, blank=True)
    title_de = models.CharField(_("title in German"), max_length=120, blank=True)
    impact = models.CharField(_("impact"), max_length=8, choices=Impact, default=Impact.DEGRADED)
    services = ArrayField(models.CharField(max_length=6, choices=NetworkService), verbose_name=_("services"))
    sites = models.ManyToManyField(Site, blank=True, related_name="+", verbose_name=_("houses"))
    gateways = models.ManyToManyField(Gateway, blank=True, related_name="+", verbose_name=_("gateways"))
    began = models.DateTimeField(_("began"))
    planned_end = models.DateTimeField(_("planned end"), null=True, blank=True)
    ended = models.DateTimeField(_("ended"), null=True)
    next_update = models.DateTimeField(_("next update"), null=True, blank=True)
    public = models.BooleanField(_("public"), default=True)
    attach_tickets = models.BooleanField(_("attach tickets"), default=False)
    report = models.TextField(_("report"), blank=True)
    opened = models.DateTimeField(db_default=Now())
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("incident")
        ordering = ["-began", "-id"]
        indexes = [
            models.Index(fields=["-began"], name="incident_by_beginning"),
            models.Index(fields=["began"], name="incident_open", condition=Q(ended=None)),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["fault", "maintenance"]), name="incident_kind"),
            models.CheckConstraint(condition=Q(impact__in=Impact.values), name="incident_impact"),
            models.CheckConstraint(condition=~Q(title_en="") | ~Q(title_de=""), name="incident_has_a_title"),
            models.CheckConstraint(
                condition=Q(services__len__gte=1) & Q(services__contained_by=list(NetworkService.values)), name="incident_affects_something"
            ),
            models.CheckConstraint(
                condition=Q(kind="fault", planned_end=None) | Q(kind="maintenance", planned_end__gt=F("began")), name="incident_planned_end"
            ),
            models.CheckConstraint(
                condition=Q(ended=None) | Q(kind="maintenance") | Q(ended__gte=F("began")), name="incident_ends_after_it_began"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """The title in the active language, or in the other if there is none."""
        return pick_language(en=self.title_en, de=self.title_de)

    @property
    def is_maintenance(self) -> bool:
        """True for planned work."""
        return self.kind == self.Kind.MAINTENANCE

    @property
    def is_called_off(self) -> bool:
        """True for planned work that never began."""
        return self.ended is not None and self.ended < self.began


class IncidentUpdate(models.Model):
    """What is told of an incident at one time.

    public: staff alone read it otherwise. notify: subscribers get it by mail. mailed_after: the last subscription whose mail is
    written; mailed: when the mails to all were written.
    """

    class Stage(models.TextChoices):
        LOOKING = "looking", _("looking for the cause")
        FOUND = "found", _("cause found")
        WATCHING = "watching", _("mended, being watched")
        PLANNED = "planned", _("planned")
        UNDER_WAY = "under_way", _("under way")
        OVER = "over", _("over")
        CALLED_OFF = "called_off", _("called off")

    incident = models.ForeignKey(Incident, models.CASCADE, related_name="updates")
    at = models.DateTimeField(db_default=Now())
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    stage = models.CharField(max_length=10, choices=Stage)
    text_en = models.TextField(blank=True)
    text_de = models.TextField(blank=True)
    public = models.BooleanField(default=True)
    notify = models.BooleanField(default=True)
    mailed_after = models.BigIntegerField(default=0)
    mailed = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["id"], name="incident_update_to_mail", condition=Q(notify=True, mailed=None))]
        constraints = [
            models.CheckConstraint(
                condition=Q(stage__in=["looking", "found", "watching", "planned", "under_way", "over", "called_off"]),
                name="incident_update_stage",
            ),
            models.CheckConstraint(condition=~Q(text_en="") | ~Q(text_de=""), name="incident_update_says_something"),
            models.CheckConstraint(condition=Q(public=True) | Q(notify=False), name="incident_update_mailed_is_public"),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The text in the active language, or in the other if there is none."""
        return pick_language(en=self.text_en, de=self.text_de)


class IncidentTicket(models.Model):
    """A ticket that is about an incident. by: who attached it; None: the rule did. detached: when a person said that it is not about it."""

    incident = models.ForeignKey(Incident, models.CASCADE, related_name="attached")
    ticket = models.OneToOneField(Ticket, models.CASCADE, related_name="incident_link")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())
    detached = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.incident_id}: #{self.ticket_id}"
