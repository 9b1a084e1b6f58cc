"""When two people edit one member: nothing is lost, both see both.

What only the other changed is taken over; what both changed stays as entered, with the other's value beside it.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.selectors import find_last_change, find_version
from apps.lib.ui import formats
from apps.members.forms import MemberForm, build_initial
from apps.members.models import Member


@dataclass(frozen=True)
class Clash:
    """A field that the other changed. `yours` is empty where the other's value was taken over."""

    label: str
    theirs: str
    yours: str


@dataclass(frozen=True)
class MergedForm:
    """The form as it should be shown, and what the person must look at."""

    form: MemberForm
    sentence: str
    clashes: list[Clash]


def merge(form: MemberForm, member: Member) -> MergedForm:
    """The form was valid and came too late; `member` is as it is now."""
    base = find_version(member, form.cleaned_data["version"] or 0)
    now, clashes = build_initial(member), list[Clash]()
    data: dict[str, str] = form.data.dict()  # type: ignore[attr-defined]  # what a browser posted
    for name in form.fields:
        mine, theirs = form.cleaned_data[name], now[name]
        if name == "version" or mine == theirs or (base is not None and _get_event_value(base, name) == _normalize(theirs)):
            continue
        untouched = base is not None and _get_event_value(base, name) == _normalize(mine)
        clashes.append(Clash(str(form.fields[name].label), _render_value(theirs), "" if untouched else _render_value(mine)))
        if untouched:
            data[name] = _format_input(theirs)
    data["version"] = str(member.version)
    return MergedForm(MemberForm(data), _describe_conflict(member), clashes)


def _describe_conflict(member: Member) -> str:
    change = find_last_change(member)
    text = _("%(who)s changed this member at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    who, at = change or (_("Somebody"), timezone.now())
    return text % {"who": who, "time": _format_time(at)}


def _format_time(at: datetime) -> str:
    return formats.format_moment(at, timezone.now(), with_seconds=False)


def _normalize(value: Any) -> Any:
    """Rows by their ids, as events keep them."""
    return value.pk if hasattr(value, "pk") else value


def _get_event_value(event: Any, name: str) -> Any:
    return getattr(event, f"{name}_id", None) if hasattr(event, f"{name}_id") else getattr(event, name)


def _format_input(value: Any) -> str:
    """As a browser would send it."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value.pk) if hasattr(value, "most_forwards") else "" if value is None else str(value)


def _render_value(value: Any) -> str:
    if value in (None, ""):
        return _("empty")
    return formats.format_day(value) if isinstance(value, date) else str(value)
