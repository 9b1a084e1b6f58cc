"""Entries of the history as pages show them: author, time, and each changed field with its old and new value.

Takes references to pghistory events. Returns entries in the same order, as `components/history.html` expects them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import BooleanField, Exists, Field, ForeignKey, Model, OuterRef, Subquery
from django.db.models.expressions import RawSQL
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.trail import EndedRow, TrailPresentation, get_trail, list_trails
from apps.lib.models import Deployed
from apps.lib.ui import formats

MOST_WORDS = 200  # characters of a value
LONGEST_TRANSACTION = timedelta(minutes=1)
UNDO_FOR = timedelta(days=7)  # later, an undo by mistake would surprise the member or account concerned

type FieldChange = tuple[str, str, str]  # field, value before, value after


@dataclass(frozen=True)
class WriteStamp:
    """Time and transaction of a write.

    `transaction`: the lower 32 bits of the transaction id, as PostgreSQL keeps them in xmin. `group`: id of the gateway group
    that the row belongs to; None for all groups.
    """

    at: datetime
    transaction: int
    group: int | None


@dataclass(frozen=True)
class HistoryEntry:
    """One change in the history.

    `whose`: name of the row's owner. `undo`: URL to POST to for an undo, empty if no undo is possible. `stamp`: only for rows
    that gateways get. `revisions`: ids of the first revisions made after the change, filled in only where a page shows them.
    """

    title: str
    detail: str
    changes: list[FieldChange]
    who: str
    at: datetime
    url: str = ""
    note: str = ""
    whose: str = ""
    undo: str = ""
    stamp: WriteStamp | None = None
    revisions: tuple[int, ...] = ()


@dataclass(frozen=True)
class EventReference:
    """Reference to an event: the key of its trail, and the event's id in that table."""

    key: str
    pk: int


def build_entries(found: Sequence[EventReference], *, with_undo: bool = False) -> list[HistoryEntry]:
    """Build the entries of these events, in this order, without events that only repeat a change of another row.

    Undo URLs need queries of their own, and are looked up only if `with_undo` is set.
    """
    chosen = {trail.key: trail for trail in list_trails()}
    ids: dict[str, list[int]] = defaultdict(list)
    for each in found:
        ids[each.key].append(each.pk)
    events = {key: _load_with_previous(chosen[key], pks) for key, pks in ids.items()}
    everything = [(chosen[key], *pair) for key, known in events.items() for pair in known.values()]
    people = map_user_names(event for known in events.values() for event, _before in known.values())
    rows = _load_named_rows(everything)
    undos = {key: _map_undo_urls(chosen[key], known.values(), rows) for key, known in events.items()} if with_undo else {}
    made = [
        _build_entry(chosen[each.key], *events[each.key][each.pk], people, rows, undos.get(each.key, {}).get(each.pk, "")) for each in found
    ]
    return [entry for entry in made if entry]


def _load_with_previous(trail: TrailPresentation, pks: Sequence[int]) -> dict[int, tuple[Any, Any | None]]:
    """Load each event together with the previous event of the same row.

    Each event is annotated with the transaction that wrote it, and with `is_last`: True if it is the row's last event.
    """
    manager = trail.events._default_manager
    same = manager.filter(pgh_obj_id=OuterRef("pgh_obj_id"))
    earlier = same.filter(pgh_id__lt=OuterRef("pgh_id")).order_by("-pgh_id")
    annotated = manager.select_related("pgh_context").annotate(
        before=Subquery(earlier.values("pgh_id")[:1]),
        is_last=~Exists(same.filter(pgh_id__gt=OuterRef("pgh_id"))),
        transaction=RawSQL(f'"{trail.events._meta.db_table}".xmin::text::bigint', ()),  # noqa: S611 - the name of a table
    )
    events: Any = annotated.in_bulk(list(pks))
    before = manager.in_bulk([event.before for event in events.values() if event.before and event.pgh_label == "update"])
    return {pk: (event, before.get(event.before)) for pk, event in events.items()}


type _NamedRows = Mapping[type[Model], Mapping[int, Model]]


def _load_named_rows(events: Iterable[tuple[TrailPresentation, Any, Any | None]]) -> _NamedRows:
    """Load the rows that these events name: owners, and the old and new target of a changed foreign key, such as a room."""
    wanted: dict[type[Model], set[int]] = defaultdict(set)
    for trail, event, before in events:
        for field in _list_foreign_keys(trail):
            old, new = getattr(before, field.attname, None), getattr(event, field.attname)
            if field.name == trail.part_of or field.name in trail.names or (before and old != new):
                wanted[field.related_model] |= {pk for pk in (old, new) if pk}
    return {model: _load_rows(model, pks) for model, pks in wanted.items()}


def _list_foreign_keys(trail: TrailPresentation) -> list[Any]:
    return [field for field in list_shown_fields(trail) if isinstance(field, ForeignKey)]


def _load_rows(model: type[Model], pks: Iterable[int]) -> Mapping[int, Model]:
    """Load rows with the relations that their names need. Deleted rows are rebuilt from the history."""
    keys = [field.name for field in model._meta.fields if isinstance(field, ForeignKey) and field.name in ("member", "site", "holding")]
    rows = model._default_manager.all()
    found: dict[int, Model] = (rows.select_related(*keys) if keys else rows).in_bulk(list(pks))
    return found | _rebuild_deleted(model, set(pks) - found.keys())


def _rebuild_deleted(model: type[Model], pks: Iterable[int]) -> dict[int, Model]:
    """Rebuild deleted rows from their last events."""
    trail = next((trail for trail in list_trails() if trail.model is model), None)
    if not pks or trail is None:
        return {}
    last = trail.events._default_manager.filter(pgh_obj_id__in=pks).order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
    return {event.pgh_obj_id: _build_row(trail, event, {}) for event in last}


def list_shown_fields(trail: TrailPresentation) -> Sequence[Field[Any, Any]]:
    return _list_tracked_fields(trail.model, trail.events)


@cache
def _list_tracked_fields(model: type[Model], events: Any) -> tuple[Field[Any, Any], ...]:
    tracked = {field.name for field in events._meta.fields}
    return tuple(field for field in model._meta.fields if field.name in tracked)


def _map_undo_urls(trail: TrailPresentation, events: Iterable[tuple[Any, Any | None]], rows: _NamedRows) -> dict[int, str]:
    """Map the ids of events that can be undone to the URLs that undo them."""
    since = timezone.now() - UNDO_FOR
    last = [(event, before) for event, before in events if event.is_last and event.pgh_created_at > since]
    if trail.undo_by:
        route = trail.undo_by.route
        return {event.pgh_id: reverse(route, args=[event.pgh_id]) for event, before in last if before or event.pgh_label != "update"}
    over = [event for event, before in last if event.pgh_label == "delete" or (before and _is_end(before, event))]
    addresses = trail.undo([EndedRow(_build_row(trail, event, rows), event.pgh_context_id) for event in over]) if over else {}
    return {event.pgh_id: addresses[event.pgh_obj_id] for event in over if event.pgh_obj_id in addresses}


def _build_stamp(trail: TrailPresentation, event: Any) -> WriteStamp | None:
    if not issubclass(trail.model, Deployed):
        return None
    return WriteStamp(event.pgh_created_at, event.transaction, getattr(event, "group_id", None))


def _build_entry(
    trail: TrailPresentation, event: Any, before: Any | None, people: Mapping[int, str], rows: _NamedRows, undo: str = ""
) -> HistoryEntry | None:
    row = _build_row(trail, event, rows)
    changes = list(_iter_changes(trail, before, event, rows)) if before else []
    title = _build_title(trail, event, before)
    if before and not changes and title == _build_title(trail, event, None):
        return None
    return HistoryEntry(
        title,
        trail.words(row)[:MOST_WORDS],
        changes,
        describe_author(event, people),
        event.pgh_created_at,
        trail.href(row),
        note=_find_reason(event),
        whose=_find_owner_name(trail, row),
        undo=undo,
        stamp=_build_stamp(trail, event),
    )


def _find_owner_name(trail: TrailPresentation, row: Model) -> str:
    """Return the name of the owner at the end of the `part_of` chain: for a forward, its member."""
    while trail.part_of and (owner := getattr(row, trail.part_of, None)):
        trail, row = get_trail(type(owner)), owner
        if not trail.part_of:
            return str(row)
    return ""


def _build_row(trail: TrailPresentation, event: Any, rows: _NamedRows) -> Model:
    """Build the row as it was at the event, with its loaded relations attached."""
    row = trail.model(**{field.attname: getattr(event, field.attname) for field in list_shown_fields(trail)})
    for field in _list_foreign_keys(trail):
        pk = getattr(event, field.attname)
        known = rows.get(field.related_model, {}).get(pk)
        if known or field.name == trail.part_of:
            setattr(row, field.name, known)
            setattr(row, field.attname, pk)
    return row


def _build_title(trail: TrailPresentation, event: Any, before: Any | None) -> str:
    facts = {"thing": trail.name}
    if event.pgh_label == "insert":
        return _("%(thing)s added") % facts
    if event.pgh_label == "delete":
        return _("%(thing)s removed") % facts
    if before and _is_end(before, event):
        return _("%(thing)s ended") % facts
    if before and getattr(before, "enabled", None) != getattr(event, "enabled", None):
        return _("%(thing)s switched on") % facts if event.enabled else _("%(thing)s switched off") % facts
    return _("%(thing)s changed") % facts


def _is_end(before: Any, event: Any) -> bool:
    """True if the row's validity ends with this event. An event has the time at which its transaction began."""
    if not hasattr(event, "valid") or event.valid.upper is None or event.valid.upper > event.pgh_created_at + LONGEST_TRANSACTION:
        return False
    return before.valid.upper is None or before.valid.upper > event.valid.upper


def _iter_changes(trail: TrailPresentation, before: Any, after: Any, rows: _NamedRows) -> Iterator[FieldChange]:
    for field in list_shown_fields(trail):
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if field.name == "valid" and old.upper != new.upper and not _is_end(before, after):
            yield _("ends"), _format_time(old.upper), _format_time(new.upper)
        elif old != new and field.name not in trail.unshown | {"valid", "enabled"}:
            yield (
                str(trail.fields.get(field.name, field.verbose_name)),
                _format_value(trail, field, old, rows) or _("none"),
                _format_value(trail, field, new, rows) or _("none"),
            )


def _format_value(trail: TrailPresentation, field: Field[Any, Any], value: Any, rows: _NamedRows) -> str:
    """Format a field's value for people."""
    if value and field.name in trail.values:
        return trail.values[field.name](value)
    if isinstance(field, ForeignKey):
        return _format_row(rows.get(field.related_model, {}).get(value))
    if field.choices:
        return str(dict(field.flatchoices).get(value, value))
    if isinstance(field, BooleanField):
        return _("yes") if value else _("no")
    if isinstance(value, datetime):
        return formats.format_full_time(value)
    if isinstance(value, date):
        return formats.format_day(value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"


def _format_time(value: datetime | None) -> str:
    return formats.format_full_time(value) if value else _("never")


def _format_row(row: Model | None) -> str:
    return row.name if isinstance(row, get_user_model()) else str(row or "")


def map_user_names(events: Iterable[Any]) -> dict[int, str]:
    pks = {pk for event in events if (pk := _find_user_id(event))}
    return {pk: user.name for pk, user in get_user_model()._default_manager.in_bulk(list(pks)).items()} if pks else {}


def _find_user_id(event: Any) -> int | None:
    context = event.pgh_context
    user = context.metadata.get("user") if context else None
    return user if isinstance(user, int) else None


def _find_reason(event: Any) -> str:
    """Return the reason that a script gave for the change, or ""."""
    reason = event.pgh_context.metadata.get("reason") if event.pgh_context else None
    return reason[:MOST_WORDS] if isinstance(reason, str) else ""


def describe_author(event: Any, people: Mapping[int, str]) -> str:
    pk = _find_user_id(event)
    return people.get(pk, _("(deleted account)")) if pk else _("the system")
