"""Validity of rows: time ranges that begin or end at the database's own clock.

An ended row is not deleted: its range ends. Only the database's clock counts, so that a web server with a fast clock cannot write
a row that is not yet valid for the next reader.
"""

from datetime import UTC, date, datetime
from typing import Final

from django.contrib.postgres.fields import DateTimeRangeField
from django.db.models import DateTimeField, Expression, F, Func, Index, Q, Value
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.lib.errors import Problem

EARLIEST: Final = date(1900, 1, 1)
"""What people enter is from this day on. The first hours of the year 1, east of Greenwich, are before all times that Python knows:
PostgreSQL stores them, but nothing can read them again."""
FARTHEST: Final = date(2200, 1, 1)
"""Planned ends and changes must be before this day: kernels and calendars have limits, and the year 9999 is meant as “never”."""


def check_not_too_far_ahead(when: date | datetime | None, fieldname: str) -> None:
    """Raise Problem for a time so far in the future that it cannot be meant."""
    if when is None:
        return
    if when >= _match_type(FARTHEST, when):
        raise Problem(_("That is too far away. Choose a time before the year %(year)d, or none.") % {"year": FARTHEST.year}, fieldname)


def check_not_too_long_ago(when: date | datetime | None, fieldname: str) -> None:
    """Raise Problem for a time so long ago that it cannot be meant."""
    if when is not None and when < _match_type(EARLIEST, when):
        raise Problem(_("That is too long ago. Choose a time from the year %(year)d on.") % {"year": EARLIEST.year}, fieldname)


def _match_type(limit: date, when: date | datetime) -> date | datetime:
    """Return the day if `when` is one, or else its beginning in UTC."""
    return datetime(limit.year, limit.month, limit.day, tzinfo=UTC) if isinstance(when, datetime) else limit


def make_range_from_now(until: object = None) -> Expression:
    """Return the range from now to `until` (a datetime, or None for ever)."""
    return Func(Now(), Value(until, output_field=DateTimeField()), function="tstzrange", output_field=DateTimeRangeField())


def make_range_until_now(field: str = "valid") -> Expression:
    """Return the row's range, cut off now."""
    lower = Func(F(field), function="lower", output_field=DateTimeField())
    return Func(lower, Now(), function="tstzrange", output_field=DateTimeRangeField())


def is_valid_now(field: str = "valid") -> Q:
    """Return a filter for rows whose range contains the current time."""
    return Q(**{f"{field}__contains": Now()})


def is_valid_now_or_later(field: str = "valid") -> Q:
    """Return a filter for rows whose range has not ended: it contains the current time or begins later."""
    return Q(**{f"{field}__overlap": make_range_from_now()})


def build_validity_index(name: str) -> Index:
    """Return an index of the ids with their validity: a list by id counts off the rows before its page there, without reading them."""
    return Index(fields=["id"], include=["valid"], name=name)
