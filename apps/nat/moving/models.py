"""Moves of members: planned for a day, carried out by a worker."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.members.models import Member, Room
from apps.network.models import Pool


@track_history()
class Move(models.Model):
    """A member's move, which takes effect at the beginning of a day in the site's zone.

    room: the new room, None if it stays; pool: the pool that new addresses of its kind come from, None if they stay. follow: port
    forwards or pinholes move to the new address; otherwise they end with the old one. problem: why the last attempt failed.
    """

    class State(models.TextChoices):
        PLANNED = "planned", _("planned")
        DONE = "done", _("done")
        DROPPED = "dropped", _("dropped")

    member = models.ForeignKey(Member, models.CASCADE, related_name="moves")
    on = models.DateField(_("on"))
    room = models.ForeignKey(Room, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("room"))
    pool = models.ForeignKey(Pool, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("pool"))
    follow = models.BooleanField(_("forwards follow"), default=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.PLANNED)
    problem = models.CharField(_("problem"), max_length=300, blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("planned by"))
    planned = models.DateTimeField(_("planned"), auto_now_add=True)

    class Meta:
        ordering = ["on", "id"]
        constraints = [
            models.UniqueConstraint(fields=["member"], condition=Q(state="planned"), name="move_one_planned"),
            models.CheckConstraint(condition=Q(state__in=["planned", "done", "dropped"]), name="move_state"),
            models.CheckConstraint(
                condition=Q(room__isnull=False) | Q(pool__isnull=False) | ~Q(state="planned"), name="move_changes_something"
            ),
        ]

    def __str__(self) -> str:
        return str(self.on)
