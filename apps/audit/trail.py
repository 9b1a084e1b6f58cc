"""Registry of trails: how the history names rows of a tracked table, what they belong to, and which page shows them.

Each app registers trails for its models when it is ready. Other tables get a default trail with their model's names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import IntegrityError
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.text import capfirst
from pghistory.models import Event

from apps.lib.errors import Problem

# Fields that repeat another row, or that only count or stamp.
UNSHOWN = frozenset({"id", "version", "changed_in", "changed_at", "held", "pool_kind", "pool_prefix"})


def _link_nowhere(_row: Any) -> str:
    return ""


@dataclass(frozen=True)
class EndedRow:
    """A row as it was when it was removed or ended, and the id of the request that did it (None if it was not a page or the API)."""

    row: Any
    request: UUID | None


def _undo_nothing(_ended: Sequence[EndedRow]) -> Mapping[int, str]:
    return {}


def _allow_any(_former: Any, _current: Any | None) -> None:
    """Allow every former state."""


@dataclass(frozen=True)
class RowUndoPolicy:
    """How the last change of a versioned row is undone, whatever it was (undo.py).

    `route`: name of the URL to POST to, with the event's id. `remove`: service that removes a row that was added.
    `explain`: turns the constraint that refuses a former state into a sentence; takes the error and the row as it was. `parts`: models
    whose rows are removed together with the row, and return with it. `prepare`: raises Problem for a former state that must not return
    by an undo, or changes other rows for it; takes the row as it was, and as it is (None if it was removed).
    """

    route: str
    remove: Callable[[Any], object]
    explain: Callable[[IntegrityError, Any], Problem]
    parts: tuple[type[Model], ...] = ()
    prepare: Callable[[Any, Any | None], None] = _allow_any


@dataclass(frozen=True)
class TrailPresentation:
    """Presentation of a model's rows in the history.

    `part_of`: foreign key to the owner of the row. `words`: returns the row's name. `href`: returns the URL of its page. `undo`:
    returns, by row id, the URL to POST to for each ended row that can be restored now. `undo_by`: instead, how any last change of a
    row is undone. `names`: foreign keys that `words` reads,
    so that a page of entries loads them in one query. `unshown`: fields that are left out. `called` and `fields`: names of the
    model and of its fields, where the model's own are not suitable. `values`: by field, returns the text for a value, where the value
    itself says little to people.
    """

    model: type[Model]
    part_of: str = ""
    words: Callable[[Any], str] = str
    names: frozenset[str] = frozenset()
    href: Callable[[Any], str] = _link_nowhere
    undo: Callable[[Sequence[EndedRow]], Mapping[int, str]] = _undo_nothing
    undo_by: RowUndoPolicy | None = None
    unshown: frozenset[str] = UNSHOWN
    called: str | Promise = ""
    fields: Mapping[str, str | Promise] = field(default_factory=dict)
    values: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.model._meta.label_lower

    @property
    def name(self) -> str:
        return str(self.called or capfirst(str(self.model._meta.verbose_name)))

    @property
    def events(self) -> Any:
        """The pghistory event model of this model."""
        return _map_event_models()[self.model]

    @property
    def owner(self) -> type[Model] | None:
        """The model that rows belong to, or None."""
        related = self.model._meta.get_field(self.part_of).related_model if self.part_of else None
        return related if isinstance(related, type) else None


_registered_trails: dict[type[Model], TrailPresentation] = {}


def register_trail(trail: TrailPresentation) -> None:
    """Register a model's trail. Called once for each model, when its app is ready."""
    _registered_trails[trail.model] = trail


def list_trails() -> list[TrailPresentation]:
    """Return the trails of all tracked tables."""
    return [get_trail(model) for model in _map_event_models()]


def get_trail(model: Any) -> TrailPresentation:
    return _registered_trails.get(model) or TrailPresentation(model)


def list_part_trails(model: type[Model]) -> list[TrailPresentation]:
    """Return the trails of models that are part of this model."""
    return [trail for trail in list_trails() if trail.owner is model]


@cache
def _map_event_models() -> Mapping[Any, Any]:
    """Map each tracked model to the model of its events, in the order of the installed apps."""
    events: Any = (model for model in apps.get_models() if issubclass(model, Event))
    return {model.pgh_tracked_model: model for model in events if getattr(model, "pgh_tracked_model", None)}
