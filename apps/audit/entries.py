"""Entries of the history as pages show them: who changed what, when, from what to what.

Comes in: where events of pghistory are. Goes out: entries in the same order, as `components/history.html` takes them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import BooleanField, Exists, Field, ForeignKey, Model, OuterRef, Subquery
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.trail import EndedRow, Trail, trail_of, trails
from apps.lib.models import Deployed
from apps.lib.ui import formats

MOST_WORDS = 200  # characters of a value
LONGEST_TRANSACTION = timedelta(minutes=1)
UNDO_FOR = timedelta(days=7)  # later, a press meant for something else would surprise whoever it concerns

type Change = tuple[str, str, str]  # what, before, after


@dataclass(frozen=True)
class Stamp:
    """When and in which transaction a row was written: the lower 32 bits of its id, as PostgreSQL keeps them beside each row.

    `group`: the id of the gateway group that it is for, None for all.
    """

    at: datetime
    transaction: int
    group: int | None


@dataclass(frozen=True)
class Entry:
    """One thing that happened. `whose`: what the row is part of. `undo`: where a POST takes it back, while that is possible.

    `stamp`: of rows that gateways get. `revisions`: ids of the first ones made after it, where they are asked for.
    """

    title: str
    detail: str
    changes: list[Change]
    who: str
    at: datetime
    url: str = ""
    note: str = ""
    whose: str = ""
    undo: str = ""
    stamp: Stamp | None = None
    revisions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Found:
    """Where an event is: the table and the id there."""

    key: str
    pk: int


def entries(found: Sequence[Found], *, with_undo: bool = False) -> list[Entry]:
    """The entries of these events, in this order, without those that only repeat what happened to another row.

    Whether one can be taken back is looked up, with queries of its own, only where it is asked for.
    """
    chosen = {trail.key: trail for trail in trails()}
    ids: dict[str, list[int]] = defaultdict(list)
    for each in found:
        ids[each.key].append(each.pk)
    events = {key: _with_before(chosen[key], pks) for key, pks in ids.items()}
    everything = [(chosen[key], *pair) for key, known in events.items() for pair in known.values()]
    people = people_of(event for known in events.values() for event, _before in known.values())
    rows = _named(everything)
    undos = {key: _undos(chosen[key], known.values(), rows) for key, known in events.items()} if with_undo else {}
    made = [_entry(chosen[each.key], *events[each.key][each.pk], people, rows, undos.get(each.key, {}).get(each.pk, "")) for each in found]
    return [entry for entry in made if entry]


def _with_before(trail: Trail, pks: Sequence[int]) -> dict[int, tuple[Any, Any | None]]:
    """Each event with the one before it of the same row; annotated with the transaction that wrote it, and whether it is the row's last."""
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


type _Rows = Mapping[type[Model], Mapping[int, Model]]


def _named(events: Iterable[tuple[Trail, Any, Any | None]]) -> _Rows:
    """The rows that are named with these events: owners, and what a changed field pointed to before and after, such as a room."""
    wanted: dict[type[Model], set[int]] = defaultdict(set)
    for trail, event, before in events:
        for field in _pointers(trail):
            old, new = getattr(before, field.attname, None), getattr(event, field.attname)
            if field.name == trail.part_of or field.name in trail.names or (before and old != new):
                wanted[field.related_model] |= {pk for pk in (old, new) if pk}
    return {model: _bulk(model, pks) for model, pks in wanted.items()}


def _pointers(trail: Trail) -> list[Any]:
    return [field for field in shown_fields(trail) if isinstance(field, ForeignKey)]


def _bulk(model: type[Model], pks: Iterable[int]) -> Mapping[int, Model]:
    """With what their names need."""
    keys = [field.name for field in model._meta.fields if isinstance(field, ForeignKey) and field.name in ("member", "site", "holding")]
    rows = model._default_manager.all()
    found: dict[int, Model] = (rows.select_related(*keys) if keys else rows).in_bulk(list(pks))
    return found | _gone(model, set(pks) - found.keys())


def _gone(model: type[Model], pks: Iterable[int]) -> dict[int, Model]:
    """Rows that are no more, as their last events tell."""
    trail = next((trail for trail in trails() if trail.model is model), None)
    if not pks or trail is None:
        return {}
    last = trail.events._default_manager.filter(pgh_obj_id__in=pks).order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
    return {event.pgh_obj_id: _row(trail, event, {}) for event in last}


def shown_fields(trail: Trail) -> list[Field[Any, Any]]:
    tracked = {field.name for field in trail.events._meta.fields}
    return [field for field in trail.model._meta.fields if field.name in tracked]


def _undos(trail: Trail, events: Iterable[tuple[Any, Any | None]], rows: _Rows) -> dict[int, str]:
    """Where each of these events is taken back, by the event's id."""
    since = timezone.now() - UNDO_FOR
    last = [(event, before) for event, before in events if event.is_last and event.pgh_created_at > since]
    over = [event for event, before in last if event.pgh_label == "delete" or (before and _ends(before, event))]
    addresses = trail.undo([EndedRow(_row(trail, event, rows), event.pgh_context_id) for event in over]) if over else {}
    return {event.pgh_id: addresses[event.pgh_obj_id] for event in over if event.pgh_obj_id in addresses}


def _stamp(trail: Trail, event: Any) -> Stamp | None:
    if not issubclass(trail.model, Deployed):
        return None
    return Stamp(event.pgh_created_at, event.transaction, getattr(event, "group_id", None))


def _entry(trail: Trail, event: Any, before: Any | None, people: Mapping[int, str], rows: _Rows, undo: str = "") -> Entry | None:
    row = _row(trail, event, rows)
    changes = list(_changes(trail, before, event, rows)) if before else []
    title = _title(trail, event, before)
    if before and not changes and title == _title(trail, event, None):
        return None
    return Entry(
        title,
        trail.words(row)[:MOST_WORDS],
        changes,
        who(event, people),
        event.pgh_created_at,
        trail.href(row),
        note=_why(event),
        whose=_whose(trail, row),
        undo=undo,
        stamp=_stamp(trail, event),
    )


def _whose(trail: Trail, row: Model) -> str:
    """The name of what the row is part of, at the end of the chain: a forward's member."""
    while trail.part_of and (owner := getattr(row, trail.part_of, None)):
        trail, row = trail_of(type(owner)), owner
        if not trail.part_of:
            return str(row)
    return ""


def _row(trail: Trail, event: Any, rows: _Rows) -> Model:
    """The row as it was, with what it points to at hand."""
    row = trail.model(**{field.attname: getattr(event, field.attname) for field in shown_fields(trail)})
    for field in _pointers(trail):
        pk = getattr(event, field.attname)
        known = rows.get(field.related_model, {}).get(pk)
        if known or field.name == trail.part_of:
            setattr(row, field.name, known)
            setattr(row, field.attname, pk)
    return row


def _title(trail: Trail, event: Any, before: Any | None) -> str:
    facts = {"thing": trail.name}
    if event.pgh_label == "insert":
        return _("%(thing)s added") % facts
    if event.pgh_label == "delete":
        return _("%(thing)s removed") % facts
    if before and _ends(before, event):
        return _("%(thing)s ended") % facts
    if before and getattr(before, "enabled", None) != getattr(event, "enabled", None):
        return _("%(thing)s switched on") % facts if event.enabled else _("%(thing)s switched off") % facts
    return _("%(thing)s changed") % facts


def _ends(before: Any, event: Any) -> bool:
    """Whether the row held until this event, and no longer. Events have the time at which their transaction began."""
    if not hasattr(event, "valid") or event.valid.upper is None or event.valid.upper > event.pgh_created_at + LONGEST_TRANSACTION:
        return False
    return before.valid.upper is None or before.valid.upper > event.valid.upper


def _changes(trail: Trail, before: Any, after: Any, rows: _Rows) -> Iterator[Change]:
    for field in shown_fields(trail):
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if field.name == "valid" and old.upper != new.upper and not _ends(before, after):
            yield _("ends"), _moment(old.upper), _moment(new.upper)
        elif old != new and field.name not in trail.unshown | {"valid", "enabled"}:
            yield (
                str(trail.fields.get(field.name, field.verbose_name)),
                _text(field, old, rows) or _("none"),
                _text(field, new, rows) or _("none"),
            )


def _text(field: Field[Any, Any], value: Any, rows: _Rows) -> str:
    """A value as people read it."""
    if isinstance(field, ForeignKey):
        return _name_of(rows.get(field.related_model, {}).get(value))
    if field.choices:
        return str(dict(field.flatchoices).get(value, value))
    if isinstance(field, BooleanField):
        return _("yes") if value else _("no")
    if isinstance(value, datetime):
        return formats.full(value)
    if isinstance(value, date):
        return formats.day(value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"


def _moment(value: datetime | None) -> str:
    return formats.full(value) if value else _("never")


def _name_of(row: Model | None) -> str:
    return row.name if isinstance(row, get_user_model()) else str(row or "")


def people_of(events: Iterable[Any]) -> dict[int, str]:
    pks = {pk for event in events if (pk := _user(event))}
    return {pk: user.name for pk, user in get_user_model()._default_manager.in_bulk(list(pks)).items()} if pks else {}


def _user(event: Any) -> int | None:
    context = event.pgh_context
    user = context.metadata.get("user") if context else None
    return user if isinstance(user, int) else None


def _why(event: Any) -> str:
    """The reason that a script gave."""
    reason = event.pgh_context.metadata.get("reason") if event.pgh_context else None
    return reason[:MOST_WORDS] if isinstance(reason, str) else ""


def who(event: Any, people: Mapping[int, str]) -> str:
    pk = _user(event)
    return people.get(pk, _("somebody who is gone")) if pk else _("the system")
