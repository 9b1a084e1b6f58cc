"""Planned ends of port forwards and pinholes: checks them, writes them, and finds them again after an early end."""

from datetime import datetime
from enum import Enum
from typing import Any, Literal

from django.contrib.postgres.fields import DateTimeRangeField
from django.db.models import DateTimeField, F, Func, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


class EndSentinel(Enum):
    """Sentinel: `UNCHANGED` keeps the present end, because None means no end."""

    UNCHANGED = "unchanged"


type Until = datetime | Literal[EndSentinel.UNCHANGED] | None


def check_end(until: datetime | None) -> None:
    """Raise Problem for an end that has passed, or is too far away. None, for no end, is allowed."""
    check_not_too_far_ahead(until, "until")
    if until is not None and until <= timezone.now():
        raise Problem(
            _("The end, %(end)s, is in the past. Choose a later one, or none.") % {"end": formats.format_full_time(until)}, "until"
        )


def build_end_update(until: Until, row: PortForward | Pinhole) -> dict[str, Any]:
    """Return what an UPDATE sets so that the row ends then; {} if it ends then already. Raises Problem as `check_end` does."""
    if until is EndSentinel.UNCHANGED or until == row.valid.upper:
        return {}
    check_end(until)
    begins = Func(F("valid"), function="lower", output_field=DateTimeField())
    return {"valid": Func(begins, Value(until, output_field=DateTimeField()), function="tstzrange", output_field=DateTimeRangeField())}


def find_original_end(ended: PortForward | Pinhole) -> datetime | None:
    """Return the planned end before the row was ended early, from its history; None: it had none."""
    now: Any = type(ended)._default_manager.get(pk=ended.pk)
    before = now.events.exclude(valid=now.valid).order_by("-pgh_id").first()
    end: datetime | None = (before or now).valid.upper
    return end
