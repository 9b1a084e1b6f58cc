"""Of what can be told: the collections of the API whose rows have a history, as the URL configuration has them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.postgres.fields import RangeField
from django.db.models import Field, Model
from rest_framework import serializers

from apps.accounts.permission_matrix import list_url_patterns
from apps.accounts.roles import Right
from apps.accounts.route_rights import API
from apps.audit.trail import list_trails

EVERYBODYS = frozenset({Right.ANYONE, Right.OWN})


@dataclass(frozen=True)
class EventKind:
    """A collection. path: its address. right: what it takes to read it. events: the table of its history."""

    name: str
    path: str
    right: Right
    model: type[Model]
    events: Any
    serializer: type[serializers.Serializer[Any]]

    def id_of(self, event: Any) -> int:
        """Under which id the API has the row: its own, or its group's where a group has one alone."""
        own = "id" in self.serializer.Meta.fields  # type: ignore[attr-defined]  # serializers of models have one
        return int(event.pgh_obj_id if own else event.group_id)

    def shown(self, event: Any) -> dict[str, Any]:
        """The row's own fields as the API shows them, as they were at an event. What is computed of other rows is left out."""
        return {name: _render_value(field, event, column) for name, field, column in list_fields(self)}


@cache
def list_event_kinds() -> Mapping[str, EventKind]:
    """By name; of a table that several collections show, the first."""
    histories = {trail.model: trail.events for trail in list_trails()}
    known: dict[str, EventKind] = {}
    for kind in _iter_collections(histories):
        if kind.model not in {each.model for each in known.values()}:
            known[kind.name] = kind
    return dict(sorted(known.items()))


def _iter_collections(histories: Mapping[type[Model], Any]) -> Iterator[EventKind]:
    for _name, path, pattern in list_url_patterns():
        callback: Any = pattern.callback
        name = getattr(callback, "initkwargs", {}).get("basename", "")
        serializer: Any = getattr(getattr(callback, "cls", None), "serializer_class", None)
        model: Any = getattr(getattr(serializer, "Meta", None), "model", None)
        reads = getattr(callback, "actions", {}).get("get") == "retrieve"
        if reads and name in API and API[name].read not in EVERYBODYS and model in histories:
            yield EventKind(
                name, "/" + re.split(r"\^|\(\?P", path.replace("^", ""))[0], API[name].read, model, histories[model], serializer
            )


@cache
def list_fields(kind: EventKind) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], Field[Any, Any]]]:
    """The fields that are shown: name, how it is written, and its column. Of a range each end can be a field."""
    tracked = {field.name for field in kind.events._meta.concrete_fields}
    columns = {field.name: field for field in kind.model._meta.concrete_fields if field.name in tracked}
    columns |= {field.attname: field for field in list(columns.values())}
    columns |= {f"{name}.{end}": field for name, field in columns.items() if isinstance(field, RangeField) for end in ("lower", "upper")}
    fields = kind.serializer().fields.items()
    return [(name, field, columns[field.source]) for name, field in fields if not field.write_only and field.source in columns]


def _render_value(field: serializers.Field[Any, Any, Any, Any], event: Any, column: Field[Any, Any]) -> Any:
    value = getattr(event, column.attname)
    if isinstance(column, RangeField):
        value = getattr(value, str(field.source).rpartition(".")[2])
    if value is None or column.is_relation:
        return value
    return field.to_representation(value)
