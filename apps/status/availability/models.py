"""What is known of each service now, and how long it was reached on each day."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.status.network_services import NetworkService


class ServiceLevel(models.TextChoices):
    """How well members reach a service."""

    FINE = "fine", _("fine")
    DEGRADED = "degraded", _("slow or unstable")
    DOWN = "down", _("not reachable")
    UNKNOWN = "unknown", _("not known")


class ServiceState(models.Model):
    """How well a service was reached when it was last noted. since: since when it is so; noted: time of the last look."""

    service = models.CharField(max_length=6, primary_key=True, choices=NetworkService)
    level = models.CharField(max_length=8, choices=ServiceLevel)
    since = models.DateTimeField()
    noted = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(service__in=NetworkService.values), name="servicestate_service"),
            models.CheckConstraint(condition=Q(level__in=ServiceLevel.values), name="servicestate_level"),
            models.CheckConstraint(condition=Q(noted__gte=models.F("since")), name="servicestate_noted_later"),
        ]

    def __str__(self) -> str:
        return f"{self.service}: {self.level}"


class ServiceDay(models.Model):
    """A day, from midnight in the network's time zone: seconds for which a service was at each level. The rest is not known."""

    service = models.CharField(max_length=6, choices=NetworkService)
    day = models.DateField()
    fine = models.FloatField(default=0)
    degraded = models.FloatField(default=0)
    down = models.FloatField(default=0)

    class Meta:
        ordering = ["service", "day"]
        constraints = [
            models.UniqueConstraint(fields=["service", "day"], name="serviceday_once"),
            models.CheckConstraint(condition=Q(service__in=NetworkService.values), name="serviceday_service"),
            models.CheckConstraint(condition=Q(fine__gte=0, degraded__gte=0, down__gte=0), name="serviceday_seconds"),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.day}"
