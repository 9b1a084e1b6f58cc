"""The last reading of the remaining times of a gateway's connections, or the request for one."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.network.models import Gateway
from firewall.codec import WireError, decode
from firewall.conntrack_timeouts import TimeoutsAre


class TimeoutReading(models.Model):
    """One row for each gateway that was ever asked.

    answer: TimeoutsAre as JSON, kept until the next one; read: when. problem: why there is none to the last request (FAILED), in the words
    of the gateway or of the way to it. OLDER: its agent does not know the question.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("under way")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        OLDER = "older", _("unknown to its agent")

    OPEN: ClassVar = (State.WAITING, State.RUNNING)

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="timeout_reading")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    asked = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    read = models.DateTimeField(null=True)
    answer = models.JSONField(null=True)
    problem = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        verbose_name = _("reading of remaining times")
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["waiting", "running", "done", "failed", "older"]), name="timeoutreading_state"),
            models.CheckConstraint(
                condition=Q(answer=None, read=None) | Q(answer__isnull=False, read__isnull=False), name="timeoutreading_has_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.state}"

    def parse_answer(self) -> TimeoutsAre | None:
        """Return the answer; None if there is none, or another release of the portal stored it in another shape."""
        try:
            found: TimeoutsAre | None = decode(TimeoutsAre, self.answer) if self.answer else None
        except WireError:
            return None
        return found
