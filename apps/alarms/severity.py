"""How urgent alarms are."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Severity(models.TextChoices):
    """How urgent an alarm is, the most urgent first."""

    CRITICAL = "critical", _("critical")
    WARNING = "warning", _("warning")
    DECISION = "decision", _("decision")
