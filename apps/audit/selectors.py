"""Queries of the history: the changes of one row or of the whole network, newest first.

The number of queries depends on the number of tracked tables, never on the number of entries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from django.db.models import ForeignKey, Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import IContains
from django.utils import timezone

from apps.audit.entries import EventReference, HistoryEntry, build_entries, describe_author, list_shown_fields, map_user_names
from apps.audit.trail import TrailPresentation, get_trail, list_part_trails, list_trails
from apps.lib.database.joint_reads import JointQuery


def list_row_history(row: Model, most: int = 20) -> list[HistoryEntry]:
    """Return the newest changes of a row and of its parts: a member's devices, addresses, mappings and forwards."""
    own = get_trail(type(row))
    branches = [(own, Q(pgh_obj_id=row.pk)), *_iter_parts(type(row), Value(row.pk))]
    return build_entries(_list_newest(branches, 0, 2 * most), with_undo=own.undo_by is not None)[:most]


def _iter_parts(model: type[Model], owners: Any) -> Iterator[tuple[TrailPresentation, Q]]:
    """Yield a filter for each trail of parts, recursively.

    A row counts if it was part of these owners at any time, according to its events.
    """
    for trail in list_part_trails(model):
        mine = Q(**{f"{trail.part_of}__in": [owners.value]} if isinstance(owners, Value) else {f"{trail.part_of}__in": owners})
        yield trail, mine
        yield from _iter_parts(trail.model, trail.events._default_manager.filter(mine).values("pgh_obj_id"))


@dataclass(frozen=True)
class HistoryFilter:
    """Filter of the history. `kind` is a trail's key, `person` a user's id.

    `since` and `until` are days in the site's time zone, both included. `text`: words that must all occur in the values that the
    row had then.
    """

    kind: str = ""
    person: int = 0
    since: date | None = None
    until: date | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return self != HistoryFilter()


def list_history(wanted: HistoryFilter = HistoryFilter(), *, page: int = 1, most: int = 50) -> tuple[list[HistoryEntry], bool]:
    """Return one page of the changes in the whole network, and True if there are more."""
    found = _list_matching(wanted, (page - 1) * most, most + 1) if wanted or page > 1 else _list_newest_of_all(most + 1)
    return build_entries(found[:most], with_undo=True), len(found) > most


def _list_newest_of_all(most: int) -> list[EventReference]:
    """Return references to the newest events of the whole network: the history as it opens."""
    [rows] = _compile_newest_of_all(most).read()
    return [EventReference(key, pk) for key, pk, _at in rows]


@lru_cache(4)
def _compile_newest_of_all(most: int) -> JointQuery:
    """Compiled once for each process: there is a branch for each of fifty tables."""
    return JointQuery([_build_union([(trail, Q()) for trail in list_trails()], most)[:most]])


def _list_matching(wanted: HistoryFilter, start: int, most: int) -> list[EventReference]:
    chosen = [trail for trail in list_trails() if not wanted.kind or trail.key == wanted.kind]
    when = _build_period_filter(wanted.since, wanted.until)
    if wanted.person:
        when &= Q(pgh_context__metadata__user=wanted.person)
    return _list_newest([(trail, when & _build_text_filter(trail, wanted.text)) for trail in chosen], start, most)


def _build_period_filter(since: date | None, until: date | None) -> Q:
    found = Q()
    if since:
        found &= Q(pgh_created_at__gte=_make_midnight(since))
    if until:
        found &= Q(pgh_created_at__lt=_make_midnight(until + timedelta(days=1)))
    return found


def _make_midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _build_text_filter(trail: TrailPresentation, text: str) -> Q:
    """Build a filter that finds each word in some value of the event. Numbers and addresses are compared as text."""
    names = [field.name for field in list_shown_fields(trail) if not isinstance(field, ForeignKey)]
    found = Q()
    for word in text.split():
        found &= reduce(or_, (Q(_build_text_lookup(name, word)) for name in names), Q(pk__in=[]))
    return found


def _build_text_lookup(name: str, word: str) -> Any:
    return IContains(Cast(name, TextField()), Value(word))


def find_last_change(row: Model) -> tuple[str, datetime] | None:
    """Return who last changed the row, and when; None if the history has no event of it."""
    events = get_trail(type(row)).events._default_manager
    event: Any = events.filter(pgh_obj_id=row.pk).select_related("pgh_context").order_by("-pgh_id").first()
    return (describe_author(event, map_user_names([event])), event.pgh_created_at) if event else None


def find_event_of_version(row: Model, version: int) -> Any | None:
    """Return the last event of the row with this version, or None."""
    return get_trail(type(row)).events._default_manager.filter(pgh_obj_id=row.pk, version=version).order_by("-pgh_id").first()


def _list_newest(branches: Sequence[tuple[TrailPresentation, Q]], start: int, most: int) -> list[EventReference]:
    """Return references to the newest events of all branches.

    Ids in one table grow with time: the newest of each table are at its end, and the newest of all are among these.
    """
    return [EventReference(key, pk) for key, pk, _at in _build_union(branches, start + most)[start : start + most]]


def _build_union(branches: Sequence[tuple[TrailPresentation, Q]], most: int) -> Any:
    """Build the query of the newest events of all branches: their key, id and time, `most` of each."""
    queries = [_build_branch(trail, wanted) for trail, wanted in branches]
    order = ("-pgh_created_at", "-pgh_id")
    if len(queries) < 2:
        return queries[0].order_by(*order) if queries else []
    first, *others = (query.order_by("-pgh_id")[:most] for query in queries)
    return first.union(*others, all=True).order_by(*order, "key")


def _build_branch(trail: TrailPresentation, wanted: Q) -> Any:
    events: QuerySet[Any] = trail.events._default_manager.filter(wanted)
    return events.annotate(key=Value(trail.key)).values_list("key", "pgh_id", "pgh_created_at")
