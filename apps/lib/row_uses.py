"""Registry of what uses a row, so that it is not removed: members of a room, addresses and mappings of a pool.

The row's app does not know the apps above it; they register their uses when they are ready.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.db.models import Model


@dataclass(frozen=True, slots=True)
class RowUse:
    """A kind of use. words: “2 members”; url: page that lists them, or shows the first; first: one of the rows."""

    words: str
    url: str
    first: Model


type FindUse = Callable[[Collection[int]], RowUse | None]

_finders: dict[type[Model], list[FindUse]] = {}


def register_use(model: type[Model], find: FindUse) -> None:
    """Register a use of the model's rows; `find` takes their ids. Called once, when the app is ready."""
    _finders.setdefault(model, []).append(find)


def list_uses(model: type[Model], ids: Collection[int]) -> list[RowUse]:
    """Return the uses of these rows; empty if they can be removed."""
    return [use for find in _finders.get(model, []) if (use := find(ids))]
