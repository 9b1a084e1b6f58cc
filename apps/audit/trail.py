"""What the history says of each tracked table: what a row is called, what it is part of, where it is shown.

Each app tells it of its own models, when it is ready; a table that nobody told of is shown by its names alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.text import capfirst
from pghistory.models import Event

# What repeats another row, or only counts and stamps.
UNSHOWN = frozenset({"id", "version", "changed_in", "changed_at", "held", "pool_kind", "pool_prefix"})


def _link_nowhere(_row: Any) -> str:
    return ""


@dataclass(frozen=True)
class EndedRow:
    """A row as it was when it was removed or ended, and the request that did it (None: not through a page or the API)."""

    row: Any
    request: UUID | None


def _undo_nothing(_ended: Sequence[EndedRow]) -> Mapping[int, str]:
    return {}


@dataclass(frozen=True)
class Trail:
    """`part_of`: the foreign key to the row this one belongs to. `words`: what the row is called. `href`: where it is shown.

    `undo`: for ended rows that can be brought back as things stand, by their id, the address to POST to.

    `names`: foreign keys that `words` reads, so that a page of entries asks for them once.
    `called`: what such a row is, where the model says it badly; `fields`: what its fields are, likewise.
    """

    model: type[Model]
    part_of: str = ""
    words: Callable[[Any], str] = str
    names: frozenset[str] = frozenset()
    href: Callable[[Any], str] = _link_nowhere
    undo: Callable[[Sequence[EndedRow]], Mapping[int, str]] = _undo_nothing
    unshown: frozenset[str] = UNSHOWN
    called: str | Promise = ""
    fields: Mapping[str, str | Promise] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.model._meta.label_lower

    @property
    def name(self) -> str:
        return str(self.called or capfirst(str(self.model._meta.verbose_name)))

    @property
    def events(self) -> Any:
        """The table of its events, a pghistory model made for it."""
        return next(model for model in _iter_event_models() if model.pgh_tracked_model is self.model)

    @property
    def owner(self) -> type[Model] | None:
        """The model it is part of."""
        related = self.model._meta.get_field(self.part_of).related_model if self.part_of else None
        return related if isinstance(related, type) else None


_registered_trails: dict[type[Model], Trail] = {}


def register_trail(trail: Trail) -> None:
    """Called once for each model, when its app is ready."""
    _registered_trails[trail.model] = trail


def list_trails() -> list[Trail]:
    """One for each tracked table."""
    return [get_trail(model.pgh_tracked_model) for model in _iter_event_models()]


def get_trail(model: Any) -> Trail:
    return _registered_trails.get(model) or Trail(model)


def list_part_trails(model: type[Model]) -> list[Trail]:
    """The trails of what belongs to rows of this model."""
    return [trail for trail in list_trails() if trail.owner is model]


def _iter_event_models() -> Iterator[Any]:
    return (model for model in apps.get_models() if issubclass(model, Event) and getattr(model, "pgh_tracked_model", None))
