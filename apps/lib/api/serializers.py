"""Base classes of the API's serializers: chosen fields, references between objects, activation on gateways."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import Model
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

from apps.lib.activation import Activation, list_activations
from apps.lib.api.fast_serializer import AnyField, FieldRenderer, build_field_renderer
from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_unknown_error
from apps.lib.api.openapi.json_schema import ACTIVE, Shape
from apps.lib.api.token_scope import is_outside_scope
from apps.lib.api.unknown_fields import StrictSerializer
from apps.lib.models import Deployed

BRIEF: Final = ("id", "number", "name", "address", "prefix", "state", "display")
"""Fields that `?brief=1` shows, unless Meta.brief declares others."""


class Reference(serializers.PrimaryKeyRelatedField[Any]):
    """Reference to another object by its id. For bulk requests, all objects are loaded at once into the context's `known`.

    Objects outside a limited token's scope cannot be referred to.
    """

    def to_internal_value(self, data: Any) -> Any:
        found = self._find_row(data)
        if is_outside_scope(getattr(self.context.get("request"), "auth", None), found):
            raise PermissionDenied(_("This is outside the token’s scope."))
        return found

    def _find_row(self, data: Any) -> Any:
        known: Mapping[int, Model] | None = self.context.get("known", {}).get(self.field_name)
        if known is None or isinstance(data, bool) or not isinstance(data, int):
            return super().to_internal_value(data)
        if data not in known:
            self.fail("does_not_exist", pk_value=data)
        return known[data]


PLAIN_FIELDS: Final = (
    serializers.BooleanField,
    serializers.CharField,
    serializers.ChoiceField,
    serializers.DateField,
    serializers.DateTimeField,
    serializers.FloatField,
    serializers.IntegerField,
    serializers.PrimaryKeyRelatedField,
    serializers.UUIDField,
)
"""Fields that render a value by itself, whatever the request is."""


@cache
def _map_readable_fields(of: type["ApiSerializer"]) -> dict[str, AnyField]:
    """Return the fields that a class shows, by name; built once, because REST framework's way to build them takes a third of a list."""
    return {name: field for name, field in of().fields.items() if not field.write_only}


class ApiSerializer(StrictSerializer, serializers.ModelSerializer[Any]):
    """An object of the API. `shown` in the context names the requested fields; without it, all are shown."""

    shapes: ClassVar[Mapping[str, Shape]] = {}
    """Schemas of fields for which they cannot be derived."""
    serializer_related_field = Reference
    serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping | {models.DateTimeField: MomentField}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        shown: Iterable[str] | None = self.context.get("shown")
        return fields if shown is None else {name: fields[name] for name in fields if name in shown}

    @cached_property
    def _field_renderers(self) -> list[tuple[str, FieldRenderer]]:
        """The renderer of each requested field."""
        shown: Iterable[str] | None = self.context.get("shown")
        declared = _map_readable_fields(type(self)).items()
        return [(name, self._build_renderer(name, field)) for name, field in declared if shown is None or name in shown]

    def _build_renderer(self, name: str, declared: AnyField) -> FieldRenderer:
        """Return the renderer of a field. A field that knows nothing of its serializer is shared by all, and needs no copy."""
        if isinstance(declared, serializers.SerializerMethodField):
            method: FieldRenderer = getattr(self, str(declared.method_name))
            return method
        return build_field_renderer(declared if isinstance(declared, PLAIN_FIELDS) else self.fields[name])

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Render like REST framework, but prepare each field's renderer once for all rows."""
        try:
            return {name: show(instance) for name, show in self._field_renderers}
        except serializers.SkipField:
            return dict(super().to_representation(instance))

    def represent_fields(self, row: Any, names: Collection[str]) -> Mapping[str, Any]:
        """Render only these fields, where a bulk request compares few of many rows; all of them, if a class adjusts what it renders."""
        if type(self).to_representation is not ApiSerializer.to_representation:
            return super().represent_fields(row, names)
        try:
            return {name: show(row) for name, show in self._field_renderers if name in names}
        except serializers.SkipField:
            return super().represent_fields(row, names)

    def create_many(self, items: Sequence[dict[str, Any]]) -> list[Any]:
        """Create all objects or raise. Override it where a bulk write is faster."""
        return [self.create(item) for item in items]

    def update_many(self, changes: Sequence[tuple[Any, dict[str, Any]]]) -> list[Any]:
        """Change these rows by their changes, all or raise. Override it where a bulk write is faster."""
        return [self.update(row, given) for row, given in changes]


def parse_shown_fields(serializer: type[serializers.BaseSerializer[Any]], params: Mapping[str, str]) -> list[str] | None:
    """Return the fields that `?fields=` or `?brief=1` requests; None for all."""
    every = list(getattr(getattr(serializer, "Meta", None), "fields", ()))
    if "fields" in params:
        asked = [name.strip() for name in params["fields"].split(",")]
        wrong = next((name for name in asked if name not in every), None)
        if wrong is not None:
            raise build_unknown_error(wrong, every, "fields")
        return asked
    brief = params.get("brief", "0")
    if brief not in ("0", "1"):
        raise serializers.ValidationError({"?brief": _("“%(text)s” is neither 0 nor 1.") % {"text": brief[:40]}})
    return [name for name in getattr(serializer.Meta, "brief", BRIEF) if name in every] if brief == "1" and every else None  # type: ignore[attr-defined]


class ActiveSerializer(ApiSerializer):
    """Serializer of rows that reach gateways, with their activation."""

    shapes: ClassVar[Mapping[str, Shape]] = {"active": ACTIVE}
    observed_fields = frozenset({"active"})
    active = serializers.SerializerMethodField()

    def get_active(self, row: Deployed) -> list[dict[str, object]]:
        """For each gateway, since when it has the object in its current state; null while it does not, with the reason."""
        known: list[Activation] = getattr(row, "known_activations", [])
        return [{"gateway": each.gateway, "since": each.since, "waits": each.waits.words if each.waits else ""} for each in known]


def attach_activations[Row: Deployed](rows: Iterable[Row]) -> list[Row]:
    """Return the rows with their activations for ActiveSerializer, in a constant number of queries. Unsaved rows get none."""
    shown = list(rows)
    for row in shown:
        row.known_activations = []  # type: ignore[attr-defined]  # read only by the serializer
    for row, known in list_activations(row for row in shown if row.pk):
        row.known_activations = known  # type: ignore[attr-defined]  # read only by the serializer
    return shown
