"""What happened to one row, from the events its table leaves: who changed which field, from what to what, when.

In come events of pghistory, oldest first; out come entries as `components/history.html` shows them, newest first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Model
from django.utils.translation import gettext as _

type Change = tuple[str, str, str]
UNSHOWN = ("id", "version")


@dataclass(frozen=True)
class Entry:
    title: str
    changes: tuple[Change, ...]
    who: str
    at: datetime
    detail: str = ""
    note: str = ""
    url: str = ""


def last(row: Any, most: int = 20) -> list[Entry]:
    """The last entries of a row whose table is tracked: two queries."""
    rows = list(row.events.select_related("pgh_context").order_by("-pgh_id")[: most + 1])
    names = _names(rows)
    older = [*rows[1:], None] if len(rows) <= most else rows[1:]
    return [_entry(event, before, names) for event, before in zip(rows, older, strict=False)]


def who_changed_last(row: Any) -> tuple[str, datetime] | None:
    """Who wrote the row as it is now, and when."""
    event = row.events.select_related("pgh_context").order_by("-pgh_id").first()
    return (_who(event, _names([event])), event.pgh_created_at) if event else None


def _entry(event: Any, before: Any | None, names: Mapping[int, str]) -> Entry:
    titles = {"insert": _("Added"), "update": _("Changed"), "delete": _("Removed")}
    changes = tuple(_changes(before, event)) if before and event.pgh_label == "update" else ()
    return Entry(titles.get(event.pgh_label, event.pgh_label), changes, _who(event, names), event.pgh_created_at)


def _changes(before: Any, after: Any) -> Iterator[Change]:
    for field in after._meta.get_fields():
        if not field.concrete or field.name.startswith("pgh_") or field.name in UNSHOWN:
            continue
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if old != new:
            yield str(field.verbose_name), _text(old), _text(new)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _user_of(event: Any) -> int | None:
    context = event.pgh_context
    return context.metadata.get("user") if context else None


def _names(events: Iterable[Model]) -> dict[int, str]:
    pks = {pk for event in events if (pk := _user_of(event))}
    users = get_user_model()._default_manager.filter(pk__in=pks) if pks else ()
    return {user.pk: user.get_full_name() or user.get_username() for user in users}


def _who(event: Any, names: Mapping[int, str]) -> str:
    pk = _user_of(event)
    return names.get(pk, _("somebody")) if pk else _("the system")
