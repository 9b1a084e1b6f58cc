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

from apps.lib.database.validity import ended_now, holds_now, holds_now_or_later
from apps.lib.models import Deployed, Versioned

type Ids = Iterable[int]
type Rows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class Hanging:
    """`rows`: the rows that hang on these ids, with a range `valid`. `words`: “2 port forwards”."""

    rows: Callable[[Ids], Rows]
    words: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Ended:
    number: int
    words: str


_hanging: dict[type[Model], list[Hanging]] = {}


def hang(on: type[Model], rows: Callable[[Ids], Rows], words: Callable[[int], str]) -> None:
    """Called once, when the app of the hanging rows is ready."""
    _hanging.setdefault(on, []).append(Hanging(rows, words))


def count(on: type[Model], ids: Ids) -> list[Ended]:
    """What would end with these rows, without what there is none of; two queries for each kind."""
    found: list[Ended] = []
    for each in _hanging.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = list(rows.values_list("pk", flat=True))
        found += [*count(rows.model, pks), Ended(len(pks), each.words(len(pks)))] if pks else []
    return found


def end(on: type[Model], ids: Ids) -> list[Ended]:
    """End now what hangs on these rows, the leaves first; within a transaction."""
    found: list[Ended] = []
    for each in _hanging.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = _locked(rows)
        found += [*end(rows.model, pks), Ended(len(pks), each.words(len(pks)))] if pks else []
        cut(rows.model._default_manager.filter(pk__in=pks))
    return found


def cut(rows: Rows) -> None:
    """End the rows now: what holds ends, what has not begun never begins."""
    version = {"version": F("version") + 1} if issubclass(rows.model, Versioned) else {}
    rows.filter(holds_now()).update(valid=ended_now(), **version)
    rows.filter(valid__startswith__gt=Now()).delete()


def stamp(on: type[Model], ids: Ids) -> None:
    """Mark as written just now what hangs on these rows and reaches the gateways: its activation is asked anew; within a transaction."""
    for each in _hanging.get(on, []):
        rows = each.rows(ids).filter(holds_now_or_later())
        pks = _locked(rows)
        stamp(rows.model, pks)
        if issubclass(rows.model, Deployed):
            rows.model._default_manager.filter(pk__in=pks).update(changed_at=Now())


def _locked(rows: Rows) -> list[int]:
    """Their ids, locked in one order and before what hangs on them: who ends or marks the same rows waits, and nobody waits in a ring."""
    return list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))


def in_words(ended: Iterable[Ended]) -> str:
    """“2 port forwards, 1 NAT mapping and 1 address”, or “nothing”."""
    *most, last = [each.words for each in ended] or [gettext("nothing")]
    return pgettext("the last two of a list", "%(first)s and %(last)s") % {"first": ", ".join(most), "last": last} if most else last
