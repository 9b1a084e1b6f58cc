"""JSON Schema of serializer fields (draft 2020-12, as OpenAPI 3.1 uses it).

Serializers declare in `shapes` what cannot be derived from a field, such as a computed one. Every object lists its fields.
"""

from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, Final, get_type_hints

from rest_framework import serializers

type Shape = dict[str, Any]
type Refer = Callable[[type[Any]], Shape]

INTEGER: Final[Shape] = {"type": "integer"}
TEXT: Final[Shape] = {"type": "string"}
TRUTH: Final[Shape] = {"type": "boolean"}
TIME: Final[Shape] = {"type": "string", "format": "date-time"}
DAY: Final[Shape] = {"type": "string", "format": "date"}
SIMPLE: Final[Mapping[Any, Shape]] = {int: INTEGER, str: TEXT, bool: TRUTH, float: {"type": "number"}}

KINDS: Final[tuple[tuple[Any, Shape], ...]] = (
    (serializers.BooleanField, TRUTH),
    (serializers.IntegerField, INTEGER),
    (serializers.FloatField, {"type": "number"}),
    (serializers.DateTimeField, TIME),
    (serializers.DateField, DAY),
    (serializers.TimeField, TEXT | {"pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),  # all of ours have minutes
    (serializers.EmailField, TEXT | {"format": "email"}),
    (serializers.PrimaryKeyRelatedField, INTEGER),
    (serializers.StringRelatedField, {"type": ["string", "null"]}),
    (serializers.CharField, TEXT),
)


class UndescribedFieldError(TypeError):
    """Raised for a field whose schema is neither declared nor derivable."""


def make_object(**fields: Shape) -> Shape:
    """Return the schema of an object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def make_array(of: Shape) -> Shape:
    """Return the schema of a list."""
    return {"type": "array", "items": of}


def make_mapping(to: Shape) -> Shape:
    """Return the schema of an object with arbitrary keys."""
    return {"type": "object", "additionalProperties": to}


def make_nullable(shape: Shape) -> Shape:
    """Return the schema with null allowed. Applying it twice is harmless."""
    if "type" in shape:
        kinds = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
        values = {"enum": list(dict.fromkeys([*shape["enum"], None]))} if "enum" in shape else {}
        return shape | {"type": list(dict.fromkeys([*kinds, "null"]))} | values
    return {"anyOf": [shape, {"type": "null"}]}


ACTIVE: Final = make_array(make_object(gateway=TEXT, since=make_nullable(TIME), waits=TEXT))
"""Schema of a row's activation on each gateway."""


def build_field_schema(name: str, field: serializers.Field[Any, Any, Any, Any], refer: Refer) -> Shape:
    """Return a field's schema. Raises UndescribedFieldError."""
    shape = _find_declared_shape(name, field) or _infer_shape(field, refer)
    if shape is None:
        raise UndescribedFieldError(f"{type(field.parent).__name__}.{name}: add its schema to `shapes`")
    words = str(field.help_text or "") or _get_description(name, field)
    flags = {"readOnly": True} if field.read_only else {"writeOnly": True} if field.write_only else {}
    return (make_nullable(shape) if field.allow_null else shape) | flags | ({"description": words} if words else {})


def _find_declared_shape(name: str, field: Any) -> Shape | None:
    """Return the schema declared in `shapes` of the nearest serializer class; for a computed field, the schema of its return type."""
    for kind in type(field.parent).__mro__:
        if name in (known := vars(kind).get("shapes", {})):
            return dict(known[name])
    if not isinstance(field, serializers.SerializerMethodField):
        return None
    returned = get_type_hints(getattr(type(field.parent), f"get_{name}"))["return"]
    if returned in SIMPLE:
        return SIMPLE[returned]
    plain = [each for each in getattr(returned, "__args__", ()) if each is not type(None)]
    return make_nullable(SIMPLE[plain[0]]) if len(plain) == 1 and plain[0] in SIMPLE and plain != list(returned.__args__) else None


def _get_description(name: str, field: Any) -> str:
    if not isinstance(field, serializers.SerializerMethodField):
        return ""
    return cleandoc(getattr(type(field.parent), f"get_{name}").__doc__ or "")


def _infer_shape(field: Any, refer: Refer) -> Shape | None:
    if isinstance(field, serializers.ListSerializer):
        return make_array(refer(type(field.child)))
    if isinstance(field, serializers.BaseSerializer):
        return refer(type(field))
    if isinstance(field, serializers.ListField):
        item = _infer_shape(field.child, refer)
        return make_array(item) if item else None
    if isinstance(field, serializers.ChoiceField):
        values = [*([""] if field.allow_blank else []), *field.choices]
        return (INTEGER if all(isinstance(each, int) for each in values) else TEXT) | {"enum": values}
    if isinstance(field, serializers.EmailField) and (field.allow_blank or field.read_only):
        return TEXT | _collect_bounds(field)  # it may be empty, which is not a valid address
    found = next((shape for kind, shape in KINDS if isinstance(field, kind)), None)
    return found and found | _collect_bounds(field)


def _collect_bounds(field: Any) -> Shape:
    names = {"min_value": "minimum", "max_value": "maximum", "min_length": "minLength", "max_length": "maxLength"}
    return {ours: value for theirs, ours in names.items() if isinstance(value := getattr(field, theirs, None), int)}
