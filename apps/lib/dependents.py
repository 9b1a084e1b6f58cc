"""What hangs on a row and must end with it: a member's addresses, an address's port forwards.

The app of the row knows nothing of the apps above it. Those register here, once, when they are ready, what of theirs hangs on it. Whoever
ends the row asks `count` for the preview, and `end`, which goes to the leaves first: the database lets nothing outlive what it hangs on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Model, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext, pgettext

from apps.lib.database.validity import holds_now, holds_now_or_later, make_range_until_now
from apps.lib.models import Deployed, Versioned

type Ids = Iterable[int]
type DependentRows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class Dependency:
    """`rows`: the rows that hang on these ids, with a range `valid`. `words`: “2 port forwards”."""

    rows: Callable[[Ids], DependentRows]
    words: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class EndedCount:
    number: int
    words: str


_dependencies: dict[type[Model], list[Dependency]] = {}


def register_dependents(on: type[Model], rows: Callable[[Ids], DependentRows], words: Callable[[int], str]) -> None:
    """Called once, when the app of the hanging rows is ready."""
    _dependencies.setdefault(on, []).append(Dependency(rows, words))


def count(on: type[Model], ids: Ids) -> list[EndedCount]:
    """What would end with these rows, without what there is none of; two queries for each kind."""
    found: list[EndedCount] = []
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = list(rows.values_list("pk", flat=True))
        found += [*count(rows.model, pks), EndedCount(len(pks), each.words(len(pks)))] if pks else []
    return found


def end(on: type[Model], ids: Ids) -> list[EndedCount]:
    """End now what hangs on these rows, the leaves first; within a transaction."""
    found: list[EndedCount] = []
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = _lock_rows(rows)
        found += [*end(rows.model, pks), EndedCount(len(pks), each.words(len(pks)))] if pks else []
        end_rows(rows.model._default_manager.filter(pk__in=pks))
    return found


def end_rows(rows: DependentRows) -> None:
    """End the rows now: what holds ends, what has not begun never begins."""
    version = {"version": F("version") + 1} if issubclass(rows.model, Versioned) else {}
    rows.filter(holds_now()).update(valid=make_range_until_now(), **version)
    rows.filter(valid__startswith__gt=Now()).delete()


def mark_changed(on: type[Model], ids: Ids) -> None:
    """Mark as written just now what hangs on these rows and reaches the gateways: its activation is asked anew; within a transaction."""
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = _lock_rows(rows)
        mark_changed(rows.model, pks)
        if issubclass(rows.model, Deployed):
            rows.model._default_manager.filter(pk__in=pks).update(changed_at=Now())


def _lock_rows(rows: DependentRows) -> list[int]:
    """Their ids, locked in one order and before what hangs on them: who ends or marks the same rows waits, and nobody waits in a ring."""
    return list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))


def describe_ended(ended: Iterable[EndedCount]) -> str:
    """“2 port forwards, 1 NAT mapping and 1 address”, or “nothing”."""
    *most, last = [each.words for each in ended] or [gettext("nothing")]
    return pgettext("the last two of a list", "%(first)s and %(last)s") % {"first": ", ".join(most), "last": last} if most else last
