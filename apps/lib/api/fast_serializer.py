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
type Shower = Callable[[Any], Any]
NOT_THERE = (AttributeError, KeyError, ObjectDoesNotExist)


def shower(field: AnyField) -> Shower:
    """What the field says of a row."""
    careful = _careful(field)
    if isinstance(field, PrimaryKeyRelatedField) and field.pk_field is None:
        return _column(f"{field.source}_id", careful)
    if field.source != "*" and _reached_by_its_source(field):
        return _written(attrgetter(str(field.source)), field.to_representation, careful)
    return careful


def _reached_by_its_source(field: AnyField) -> bool:
    way = type(field).get_attribute
    return way is Field.get_attribute or (way is RelatedField.get_attribute and not isinstance(field, PrimaryKeyRelatedField))


def _careful(field: AnyField) -> Shower:
    """REST framework's own way, which knows of defaults, mappings and what is called."""

    def show(row: Any) -> Any:
        value = field.get_attribute(row)
        known = value.pk if isinstance(value, PKOnlyObject) else value
        return None if known is None else field.to_representation(value)

    return show


def _column(path: str, otherwise: Shower) -> Shower:
    """The id of what a row points to, without reading that."""
    get = attrgetter(path)

    def show(row: Any) -> Any:
        try:
            return get(row)
        except NOT_THERE:
            return otherwise(row)

    return show


def _written(get: Shower, write: Shower, otherwise: Shower) -> Shower:
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
