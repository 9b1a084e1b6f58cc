"""How a field of an object is reached and written, found out once for all rows of a list: half the time of REST framework's own way.

A serializer's field comes in; a function from row to JSON value goes out. It says what `Serializer.to_representation` says, and raises
SkipField where that leaves the field out.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework.fields import Field
from rest_framework.relations import PKOnlyObject, PrimaryKeyRelatedField, RelatedField

type AnyField = Field[Any, Any, Any, Any]
type FieldRenderer = Callable[[Any], Any]
NOT_THERE = (AttributeError, KeyError, ObjectDoesNotExist)


def build_field_renderer(field: AnyField) -> FieldRenderer:
    """What the field says of a row."""
    careful = _build_general_renderer(field)
    if isinstance(field, PrimaryKeyRelatedField) and field.pk_field is None:
        return _build_id_renderer(f"{field.source}_id", careful)
    if field.source != "*" and _is_read_by_source(field):
        return _build_attribute_renderer(attrgetter(str(field.source)), field.to_representation, careful)
    return careful


def _is_read_by_source(field: AnyField) -> bool:
    way = type(field).get_attribute
    return way is Field.get_attribute or (way is RelatedField.get_attribute and not isinstance(field, PrimaryKeyRelatedField))


def _build_general_renderer(field: AnyField) -> FieldRenderer:
    """REST framework's own way, which knows of defaults, mappings and what is called."""

    def show(row: Any) -> Any:
        value = field.get_attribute(row)
        known = value.pk if isinstance(value, PKOnlyObject) else value
        return None if known is None else field.to_representation(value)

    return show


def _build_id_renderer(path: str, otherwise: FieldRenderer) -> FieldRenderer:
    """The id of what a row points to, without reading that."""
    get = attrgetter(path)

    def show(row: Any) -> Any:
        try:
            return get(row)
        except NOT_THERE:
            return otherwise(row)

    return show


def _build_attribute_renderer(get: FieldRenderer, write: FieldRenderer, otherwise: FieldRenderer) -> FieldRenderer:
    """An attribute, as the field writes it."""

    def show(row: Any) -> Any:
        try:
            value = get(row)
        except NOT_THERE:
            return otherwise(row)
        if value is None:
            return None
        return otherwise(row) if callable(value) else write(value)

    return show
