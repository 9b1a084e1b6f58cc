"""Reading the history: which changes there were, of one row or of the whole network, the newest first.

The number of queries depends on how many kinds of things there are, never on how many entries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import ForeignKey, Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import IContains
from django.utils import timezone

from apps.audit.entries import Entry, Found, entries, people_of, shown_fields, who
from apps.audit.trail import Trail, parts_of, trail_of, trails


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
    return entries(found[:most], with_undo=True), len(found) > most


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
    names = [field.name for field in shown_fields(trail) if not isinstance(field, ForeignKey)]
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
    return (who(event, people_of([event])), event.pgh_created_at) if event else None


def was(row: Model, version: int) -> Any | None:
    """The row as it was in that version."""
    return trail_of(type(row)).events._default_manager.filter(pgh_obj_id=row.pk, version=version).order_by("-pgh_id").first()


def _newest(branches: Sequence[tuple[Trail, Q]], start: int, most: int) -> list[Found]:
    """Ids in a table grow with time: the newest of each are at its end, and the newest of all among these."""
    queries = [_branch(trail, wanted) for trail, wanted in branches]
    order = ("-pgh_created_at", "-pgh_id")
    if len(queries) < 2:
        together: Any = queries[0].order_by(*order) if queries else []
    else:
        first, *others = (query.order_by("-pgh_id")[: start + most] for query in queries)
        together = first.union(*others, all=True).order_by(*order, "key")
    return [Found(key, pk) for key, pk, _at in together[start : start + most]]


def _branch(trail: Trail, wanted: Q) -> Any:
    events: QuerySet[Any] = trail.events._default_manager.filter(wanted)
    return events.annotate(key=Value(trail.key)).values_list("key", "pgh_id", "pgh_created_at")
