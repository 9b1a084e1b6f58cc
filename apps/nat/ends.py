"""When what is open ends by itself: whether that can be, and when it would have been had nobody ended it before."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib import formats
from apps.lib.errors import Problem
from apps.lib.validity import check_reachable
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


def check_end(until: datetime | None) -> None:
    """Raises Problem for an end that has passed, or is too far away. None: it stays."""
    check_reachable(until, "until")
    if until is not None and until <= timezone.now():
        raise Problem(_("This end, %(end)s, has passed. Choose a later one, or none.") % {"end": formats.full(until)}, "until")


def planned_end(ended: PortForward | Pinhole) -> datetime | None:
    """When it was to end before somebody ended it, from its history; None: never."""
    now: Any = type(ended)._default_manager.get(pk=ended.pk)
    before = now.events.exclude(valid=now.valid).order_by("-pgh_id").first()
    end: datetime | None = (before or now).valid.upper
    return end
