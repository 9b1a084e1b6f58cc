"""What gateways report of their machines, its sums over time, and what was found to be wrong with them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.network.models import Gateway
from firewall.codec import WireError, decode
from firewall.health import HealthCounters


class HealthStatus(models.Model):
    """The last attempt to read a gateway's health. refusal: why there was no reading, "" if there was one."""

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="health")
    at = models.DateTimeField()
    refusal = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name = _("state of health readings")

    def __str__(self) -> str:
        return f"{self.gateway}: {self.refusal or self.at}"


class HealthReading(models.Model):
    """One reading, kept for two hours.

    counters: firewall.health.HealthCounters as JSON. measures: by key (measures.py), what happened since the reading before; empty if that
    is not known.
    """

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="health_readings")
    at = models.DateTimeField()
    counters = models.JSONField()
    measures = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("health reading")
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["gateway", "at"], name="healthreading_once")]
        indexes = [models.Index(fields=["at"], name="healthreading_at")]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.at}"

    def parse_counters(self) -> HealthCounters | None:
        """Return the counters; None if another release of the portal stored them in another shape."""
        try:
            found: HealthCounters = decode(HealthCounters, self.counters)
        except WireError:
            return None
        return found


class HealthSample(models.Model):
    """Measures of a gateway over five minutes, an hour or a day. begin: aligned in UTC. averages, maxima: by key (measures.py)."""

    class Span(models.IntegerChoices):
        FIVE_MINUTES = 300, _("5 minutes")
        HOUR = 3600, _("1 hour")
        DAY = 86400, _("1 day")

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="health_samples")
    span = models.PositiveIntegerField(choices=Span)
    begin = models.DateTimeField()
    averages = models.JSONField()
    maxima = models.JSONField()

    class Meta:
        verbose_name = _("health sample")
        ordering = ["begin"]
        constraints = [
            models.UniqueConstraint(fields=["gateway", "span", "begin"], name="healthsample_once"),
            models.CheckConstraint(condition=Q(span__in=[300, 3600, 86400]), name="healthsample_span"),
        ]
        indexes = [models.Index(fields=["span", "begin"], name="healthsample_by_age")]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.begin}, {self.span} s"


class HealthFinding(models.Model):
    """Something that a rule found in the last readings of a gateway.

    rule: its name. kind: how bad it is. evidence: the values that the rule's sentence is made of. since, at: first and last reading that
    showed it; times: readings in a row that did; missed: readings since then that did not.
    """

    class Kind(models.TextChoices):
        BAD = "bad", _("critical")
        WARN = "warn", _("warning")

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="health_findings")
    rule = models.CharField(max_length=40)
    kind = models.CharField(max_length=4, choices=Kind)
    evidence = models.JSONField()
    since = models.DateTimeField()
    at = models.DateTimeField()
    times = models.PositiveIntegerField(default=1)
    missed = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("health finding")
        ordering = ["since"]
        constraints = [
            models.UniqueConstraint(fields=["gateway", "rule"], name="healthfinding_once"),
            models.CheckConstraint(condition=Q(kind__in=["bad", "warn"]), name="healthfinding_kind"),
            models.CheckConstraint(condition=Q(at__gte=models.F("since")), name="healthfinding_ends_after_it_began"),
        ]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.rule}"
