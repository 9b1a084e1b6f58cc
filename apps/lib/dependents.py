"""Registry of dependent rows that end with their parent: a member's addresses, an address's port forwards.

The parent's app does not know the apps above it. They register their dependents here when they are ready. Code that ends a parent
calls `count_dependents` for the preview and `end_dependents` for the change. The latter goes to the leaves first, because the database
refuses a parent that ends before its dependents.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Model, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext, pgettext

from apps.lib.database.validity import is_valid_now, is_valid_now_or_later, make_range_until_now
from apps.lib.models import Deployed, Versioned

type Ids = Iterable[int]
type DependentRows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class Dependency:
    """`rows`: returns the dependents of these parent ids; they have a range `valid`.

    `words`: describes a number of them, “2 port forwards”.
    """

    rows: Callable[[Ids], DependentRows]
    words: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class EndedCount:
    number: int
    words: str


_dependencies: dict[type[Model], list[Dependency]] = {}


def register_dependents(on: type[Model], rows: Callable[[Ids], DependentRows], words: Callable[[int], str]) -> None:
    """Register dependents of a model. Called once, when the app of the dependents is ready."""
    _dependencies.setdefault(on, []).append(Dependency(rows, words))


def count_dependents(on: type[Model], ids: Ids) -> list[EndedCount]:
    """Return how many rows of each kind would end with these parents, without empty kinds. Two queries for each kind."""
    found: list[EndedCount] = []
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(is_valid_now_or_later())
        pks = list(rows.values_list("pk", flat=True))
        found += [*count_dependents(rows.model, pks), EndedCount(len(pks), each.words(len(pks)))] if pks else []
    return found


def end_dependents(on: type[Model], ids: Ids) -> list[EndedCount]:
    """End all dependents of these rows now, leaves first. Must run within a transaction."""
    found: list[EndedCount] = []
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(is_valid_now_or_later())
        pks = _lock_rows(rows)
        found += [*end_dependents(rows.model, pks), EndedCount(len(pks), each.words(len(pks)))] if pks else []
        end_rows(rows.model._default_manager.filter(pk__in=pks))
    return found


def end_rows(rows: DependentRows) -> None:
    """End the rows now: current ones end, future ones are deleted."""
    version = {"version": F("version") + 1} if issubclass(rows.model, Versioned) else {}
    rows.filter(is_valid_now()).update(valid=make_range_until_now(), **version)
    rows.filter(valid__startswith__gt=Now()).delete()


def mark_dependents_changed(on: type[Model], ids: Ids) -> None:
    """Mark the dependents that reach gateways as just written, so that their activation is determined again.

    Must run within a transaction.
    """
    for each in _dependencies.get(on, []):
        rows = each.rows(ids).filter(is_valid_now_or_later())
        pks = _lock_rows(rows)
        mark_dependents_changed(rows.model, pks)
        if issubclass(rows.model, Deployed):
            rows.model._default_manager.filter(pk__in=pks).update(changed_at=Now())


def _lock_rows(rows: DependentRows) -> list[int]:
    """Lock the rows in the order of their ids, before their own dependents, and return the ids.

    All callers lock in this order: concurrent ones wait, and cannot deadlock.
    """
    return list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))


def describe_ended(ended: Iterable[EndedCount]) -> str:
    """Return “2 port forwards, 1 NAT mapping and 1 address”, or “nothing”."""
    *most, last = [each.words for each in ended] or [gettext("nothing")]
    return pgettext("the last two of a list", "%(first)s and %(last)s") % {"first": ", ".join(most), "last": last} if most else last
