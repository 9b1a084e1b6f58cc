"""Kinds of objects that webhooks can report: collections of the API whose model has a history, found in the URL configuration."""

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
class ReportableCollection:
    """A collection of the API. path: its URL. right: the right that reading it needs. events: the model of its history."""

    name: str
    path: str
    right: Right
    model: type[Model]
    events: Any
    serializer: type[serializers.Serializer[Any]]

    def get_object_id(self, event: Any) -> int:
        """Return the object's id in the API: the row's own, or its group's if the API shows one row for each group."""
        own = "id" in self.serializer.Meta.fields  # type: ignore[attr-defined]  # model serializers have a Meta
        return int(event.pgh_obj_id if own else event.group_id)

    def render_fields(self, event: Any) -> dict[str, Any]:
        """Return the row's own fields at the time of an event, as the API shows them. Fields computed from other rows are left out."""
        return {name: _render_value(field, event, column) for name, field, column in list_fields(self)}


@cache
def list_reportable_collections() -> Mapping[str, ReportableCollection]:
    """Return the kinds by name. If several collections show the same table, only the first counts."""
    histories = {trail.model: trail.events for trail in list_trails()}
    known: dict[str, ReportableCollection] = {}
    for kind in _iter_collections(histories):
        if kind.model not in {each.model for each in known.values()}:
            known[kind.name] = kind
    return dict(sorted(known.items()))


def _iter_collections(histories: Mapping[type[Model], Any]) -> Iterator[ReportableCollection]:
    for _name, path, pattern in list_url_patterns():
        callback: Any = pattern.callback
        name = getattr(callback, "initkwargs", {}).get("basename", "")
        serializer: Any = getattr(getattr(callback, "cls", None), "serializer_class", None)
        model: Any = getattr(getattr(serializer, "Meta", None), "model", None)
        reads = getattr(callback, "actions", {}).get("get") == "retrieve"
        if reads and name in API and API[name].read not in EVERYBODYS and model in histories:
            yield ReportableCollection(
                name, "/" + re.split(r"\^|\(\?P", path.replace("^", ""))[0], API[name].read, model, histories[model], serializer
            )


@cache
def list_fields(kind: ReportableCollection) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], Field[Any, Any]]]:
    """Return the shown fields: name, serializer field and model field. Each end of a range can be a field."""
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
