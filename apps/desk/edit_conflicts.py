"""Merging when two people edit one member at the same time.

A field that only the other person changed is taken over. A field that both changed keeps this person's input, with the other's
value beside it.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.selectors import find_event_of_version, find_last_change
from apps.lib.ui import formats
from apps.members.forms import MemberForm, build_initial
from apps.members.models import Member


@dataclass(frozen=True)
class FieldConflict:
    """A field that the other person changed. `yours` is empty where the other's value was taken over."""

    label: str
    theirs: str
    yours: str


@dataclass(frozen=True)
class MergedEdit:
    """The form to show again, and what the user must check."""

    form: MemberForm
    sentence: str
    clashes: list[FieldConflict]


def merge_edit(form: MemberForm, member: Member) -> MergedEdit:
    """Merge a valid form with an old version into `member`, which is the current state."""
    base = find_event_of_version(member, form.cleaned_data["version"] or 0)
    now, clashes = build_initial(member), list[FieldConflict]()
    data: dict[str, str] = form.data.dict()  # type: ignore[attr-defined]  # a bound form has a QueryDict
    for name in form.fields:
        mine, theirs = form.cleaned_data[name], now[name]
        if name == "version" or mine == theirs or (base is not None and _get_event_value(base, name) == _normalize(theirs)):
            continue
        untouched = base is not None and _get_event_value(base, name) == _normalize(mine)
        clashes.append(FieldConflict(str(form.fields[name].label), _render_value(theirs), "" if untouched else _render_value(mine)))
        if untouched:
            data[name] = _format_input(theirs)
    data["version"] = str(member.version)
    return MergedEdit(MemberForm(data), _describe_conflict(member), clashes)


def _describe_conflict(member: Member) -> str:
    change = find_last_change(member)
    text = _("%(who)s changed this member at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    who, at = change or (_("Someone else"), timezone.now())
    return text % {"who": who, "time": _format_time(at)}


def _format_time(at: datetime) -> str:
    return formats.format_moment(at, timezone.now(), with_seconds=False)


def _normalize(value: Any) -> Any:
    """Return a row's id, which is what history events store; other values unchanged."""
    return value.pk if hasattr(value, "pk") else value


def _get_event_value(event: Any, name: str) -> Any:
    return getattr(event, f"{name}_id", None) if hasattr(event, f"{name}_id") else getattr(event, name)


def _format_input(value: Any) -> str:
    """Return the value as a browser would submit it."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value.pk) if hasattr(value, "most_forwards") else "" if value is None else str(value)


def _render_value(value: Any) -> str:
    if value in (None, ""):
        return _("empty")
    return formats.format_day(value) if isinstance(value, date) else str(value)
