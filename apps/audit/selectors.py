"""Reading the history: who changed what, when, from what to what.

Events of pghistory come in, entries as components/history.html shows them go out, newest first. The number of queries depends on how many
kinds of things there are, never on how many entries.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import BooleanField, Field, ForeignKey, Model, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import IContains
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.trail import Trail, parts_of, trail_of, trails
from apps.lib import formats

MOST_WORDS = 200  # characters of a value

type Change = tuple[str, str, str]  # what, before, after


@dataclass(frozen=True)
class Entry:
    """One thing that happened. `whose`: what the row is part of."""

    title: str
    detail: str
    changes: list[Change]
    who: str
    at: datetime
    url: str = ""
    note: str = ""
    whose: str = ""


@dataclass(frozen=True)
class _Found:
    """Where an event is: the table and the id there."""

    key: str
    pk: int


def history_of(row: Model, most: int = 20) -> list[Entry]:
    """What happened to a row and to what belongs to it: a member with devices, addresses, mappings and forwards."""
    own = trail_of(type(row))
    branches = [(own, Q(pgh_obj_id=row.pk)), *_belonging(type(row), Value(row.pk))]
    return entries(_newest(branches, 0, 2 * most))[:most]


def _belonging(model: type[Model], owners: Any) -> Iterator[tuple[Trail, Q]]:
    """Rows that were part of these at any time, as their events tell; and what was part of those."""
    for trail in parts_of(model):
        mine = Q(**{f"{trail.part_of}__in": [owners.value]} if isinstance(owners, Value) else {f"{trail.part_of}__in": owners})
        yield trail, mine
        yield from _belonging(trail.model, trail.events._default_manager.filter(mine).values("pgh_obj_id"))


@dataclass(frozen=True)
class HistoryFilter:
    """Which changes are shown. `kind` is a Trail's key, `person` a user's id, `since` and `until` days in the site's zone, both included.

    `text`: words that must all occur in the values that the row had then.
    """

    kind: str = ""
    person: int = 0
    since: date | None = None
    until: date | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return self != HistoryFilter()


def history(wanted: HistoryFilter = HistoryFilter(), *, page: int = 1, most: int = 50) -> tuple[list[Entry], bool]:
    """What happened in the whole network, and whether there is more."""
    chosen = [trail for trail in trails() if not wanted.kind or trail.key == wanted.kind]
    when = _between(wanted.since, wanted.until)
    if wanted.person:
        when &= Q(pgh_context__metadata__user=wanted.person)
    found = _newest([(trail, when & _with_words(trail, wanted.text)) for trail in chosen], (page - 1) * most, most + 1)
    return entries(found[:most]), len(found) > most


def _between(since: date | None, until: date | None) -> Q:
    found = Q()
    if since:
        found &= Q(pgh_created_at__gte=_midnight(since))
    if until:
        found &= Q(pgh_created_at__lt=_midnight(until + timedelta(days=1)))
    return found


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _with_words(trail: Trail, text: str) -> Q:
    """Each word in some value of the event. Numbers and addresses are compared as they are written."""
    names = [field.name for field in _shown_fields(trail) if not isinstance(field, ForeignKey)]
    found = Q()
    for word in text.split():
        found &= reduce(or_, (Q(_contains_text(name, word)) for name in names), Q(pk__in=[]))
    return found


def _contains_text(name: str, word: str) -> Any:
    return IContains(Cast(name, TextField()), Value(word))


def last_change(row: Model) -> tuple[str, datetime] | None:
    """Who wrote the row as it is now, and when."""
    events = trail_of(type(row)).events._default_manager
    event: Any = events.filter(pgh_obj_id=row.pk).select_related("pgh_context").order_by("-pgh_id").first()
    return (_who(event, _people([event])), event.pgh_created_at) if event else None


def was(row: Model, version: int) -> Any | None:
    """The row as it was in that version."""
    return trail_of(type(row)).events._default_manager.filter(pgh_obj_id=row.pk, version=version).order_by("-pgh_id").first()


def _newest(branches: Sequence[tuple[Trail, Q]], start: int, most: int) -> list[_Found]:
    """Ids in a table grow with time: the newest of each are at its end, and the newest of all among these."""
    queries = [_branch(trail, wanted) for trail, wanted in branches]
    order = ("-pgh_created_at", "-pgh_id")
    if len(queries) < 2:
        together: Any = queries[0].order_by(*order) if queries else []
    else:
        first, *others = (query.order_by("-pgh_id")[: start + most] for query in queries)
        together = first.union(*others, all=True).order_by(*order, "key")
    return [_Found(key, pk) for key, pk, _at in together[start : start + most]]


def _branch(trail: Trail, wanted: Q) -> Any:
    events: QuerySet[Any] = trail.events._default_manager.filter(wanted)
    return events.annotate(key=Value(trail.key)).values_list("key", "pgh_id", "pgh_created_at")


# --- From events to words


def entries(found: Sequence[_Found]) -> list[Entry]:
    """The entries of these events, in this order, without those that only repeat what happened to another row."""
    chosen = {trail.key: trail for trail in trails()}
    ids: dict[str, list[int]] = defaultdict(list)
    for each in found:
        ids[each.key].append(each.pk)
    events = {key: _with_before(chosen[key], pks) for key, pks in ids.items()}
    everything = [(chosen[key], *pair) for key, known in events.items() for pair in known.values()]
    people = _people(event for known in events.values() for event, _before in known.values())
    rows = _named(everything)
    made = [_entry(chosen[each.key], *events[each.key][each.pk], people, rows) for each in found]
    return [entry for entry in made if entry]


def _with_before(trail: Trail, pks: Sequence[int]) -> dict[int, tuple[Any, Any | None]]:
    """Each event with the one before it of the same row."""
    manager = trail.events._default_manager
    earlier = manager.filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id")).order_by("-pgh_id")
    events: Any = manager.select_related("pgh_context").annotate(before=Subquery(earlier.values("pgh_id")[:1])).in_bulk(list(pks))
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
    return [field for field in _shown_fields(trail) if isinstance(field, ForeignKey)]


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


def _shown_fields(trail: Trail) -> list[Field[Any, Any]]:
    tracked = {field.name for field in trail.events._meta.fields}
    return [field for field in trail.model._meta.fields if field.name in tracked]


def _entry(trail: Trail, event: Any, before: Any | None, people: Mapping[int, str], rows: _Rows) -> Entry | None:
    row = _row(trail, event, rows)
    changes = list(_changes(trail, before, event, rows)) if before else []
    title = _title(trail, event, before)
    if before and not changes and title == _title(trail, event, None):
        return None
    return Entry(
        title,
        trail.words(row)[:MOST_WORDS],
        changes,
        _who(event, people),
        event.pgh_created_at,
        trail.href(row),
        note=_why(event),
        whose=_whose(trail, row),
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
    row = trail.model(**{field.attname: getattr(event, field.attname) for field in _shown_fields(trail)})
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
    if before and hasattr(event, "valid") and event.valid.upper and not before.valid.upper:
        return _("%(thing)s ended") % facts
    if before and getattr(before, "enabled", None) != getattr(event, "enabled", None):
        return _("%(thing)s switched on") % facts if event.enabled else _("%(thing)s switched off") % facts
    return _("%(thing)s changed") % facts


def _changes(trail: Trail, before: Any, after: Any, rows: _Rows) -> Iterator[Change]:
    for field in _shown_fields(trail):
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if old != new and field.name not in trail.unshown | {"valid", "enabled"}:
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


def _name_of(row: Model | None) -> str:
    return row.name if isinstance(row, get_user_model()) else str(row or "")


def _people(events: Iterable[Any]) -> dict[int, str]:
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


def _who(event: Any, people: Mapping[int, str]) -> str:
    pk = _user(event)
    return people.get(pk, _("somebody who is gone")) if pk else _("the system")
