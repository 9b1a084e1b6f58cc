"""Prepares the rendering of serializer fields once for all rows of a list: half the time of REST framework's own way.

Takes a serializer field, returns a function from row to JSON value. The result equals that of `Serializer.to_representation`; the
function raises SkipField where that leaves the field out.
"""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework import ISO_8601
from rest_framework.fields import DateTimeField, Field
from rest_framework.relations import PKOnlyObject, PrimaryKeyRelatedField, RelatedField
from rest_framework.settings import api_settings

from apps.lib.api.fields import MomentField

type AnyField = Field[Any, Any, Any, Any]
type FieldRenderer = Callable[[Any], Any]
NOT_THERE = (AttributeError, KeyError, ObjectDoesNotExist)


def build_field_renderer(field: AnyField) -> FieldRenderer:
    """Return a function that renders the field of a row."""
    careful = _build_general_renderer(field)
    if isinstance(field, PrimaryKeyRelatedField) and field.pk_field is None:
        return _build_id_renderer(f"{field.source}_id", careful)
    if isinstance(field, DateTimeField) and _is_read_by_source(field) and _is_iso(field):
        return _build_attribute_renderer(attrgetter(str(field.source)), _build_time_writer(field), careful)
    if field.source != "*" and _is_read_by_source(field):
        return _build_attribute_renderer(attrgetter(str(field.source)), field.to_representation, careful)
    return careful


def _is_read_by_source(field: AnyField) -> bool:
    way = type(field).get_attribute
    return way is Field.get_attribute or (way is RelatedField.get_attribute and not isinstance(field, PrimaryKeyRelatedField))


def _is_iso(field: DateTimeField) -> bool:
    return type(field) in (DateTimeField, MomentField) and api_settings.DATETIME_FORMAT == ISO_8601 and not hasattr(field, "format")


def _build_time_writer(field: DateTimeField) -> Callable[[datetime], str]:
    """Return a function that writes times in the time zone of this request, which REST framework looks up for each value."""
    zone = field.timezone if hasattr(field, "timezone") else field.default_timezone()

    def write(value: datetime) -> str:
        text = value.astimezone(zone).isoformat()
        return f"{text[:-6]}Z" if text.endswith("+00:00") else text

    return write


def _build_general_renderer(field: AnyField) -> FieldRenderer:
    """Render in REST framework's own way, which handles defaults, mappings and callables."""

    def show(row: Any) -> Any:
        value = field.get_attribute(row)
        known = value.pk if isinstance(value, PKOnlyObject) else value
        return None if known is None else field.to_representation(value)

    return show


def _build_id_renderer(path: str, otherwise: FieldRenderer) -> FieldRenderer:
    """Render the id of a related object without loading the object."""
    get = attrgetter(path)

    def show(row: Any) -> Any:
        try:
            return get(row)
        except NOT_THERE:
            return otherwise(row)

    return show


def _build_attribute_renderer(get: FieldRenderer, write: FieldRenderer, otherwise: FieldRenderer) -> FieldRenderer:
    """Render an attribute by the field's `to_representation`."""

    def show(row: Any) -> Any:
        try:
            value = get(row)
        except NOT_THERE:
            return otherwise(row)
        if value is None:
            return None
        return otherwise(row) if callable(value) else write(value)

    return show
