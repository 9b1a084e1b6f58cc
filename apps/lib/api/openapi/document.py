"""Builds the OpenAPI 3.1 document of the API from a router. The result is deterministic."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from inspect import cleandoc
from typing import Any

from django.conf import settings
from django.urls import URLPattern

from apps.lib.api.openapi.json_schema import INTEGER, TEXT, Shape, build_field_schema, make_array
from apps.lib.api.openapi.operations import SchemaReferences, build_operation, build_problem_response

PROBLEM: Shape = {
    "type": "object",
    "properties": {
        "type": TEXT | {"format": "uri-reference"},
        "title": TEXT,
        "status": INTEGER,
        "detail": TEXT,
        "offer": TEXT | {"description": "a value that would do"},
        "errors": make_array(
            {
                "type": "object",
                "properties": {
                    "detail": TEXT,
                    "field": TEXT | {"description": "such as [3].public_port"},
                    "pointer": TEXT | {"description": "a JSON pointer into what was sent"},
                    "item": INTEGER | {"description": "which of many"},
                    "parameter": TEXT | {"description": "of the address"},
                    "offer": TEXT,
                },
                "required": ["detail"],
                "additionalProperties": False,
            }
        ),
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
}


@dataclass
class _Components:
    """Schemas of the document, built when an operation first refers to them."""

    schemas: dict[str, Shape] = field(default_factory=dict)

    def refer(self, serializer: type[Any], *, ending: str = "") -> Shape:
        name = serializer.__name__.removesuffix("Serializer") + ending
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name] = self._build_object(serializer, ending)
        return {"$ref": f"#/components/schemas/{name}"}

    def _build_object(self, serializer: type[Any], ending: str) -> Shape:
        fields = serializer().fields.items()
        chosen = [(name, each) for name, each in fields if not (each.read_only if ending else each.write_only)]
        shapes = {name: build_field_schema(name, each, self.refer) for name, each in chosen}
        required = [name for name, each in chosen if ending == "Write" and each.required]
        closed = {"additionalProperties": False} if ending == "Write" else {}
        told = closed | {"required": required, "description": cleandoc(vars(serializer).get("__doc__") or "")}
        return {"type": "object", "properties": shapes} | {name: value for name, value in told.items() if value or name in closed}


def build_document(patterns: Iterable[URLPattern], prefixes: Iterable[tuple[str, type[Any], str]]) -> Shape:
    """Build the whole document. `patterns` and `prefixes` are a router's `urls` and `registry`."""
    components = _Components({"Problem": PROBLEM})
    refer = components.refer
    schemas = SchemaReferences(refer, partial(refer, ending="Write"), partial(refer, ending="Change"))
    paths: dict[str, Shape] = {}
    for path, method, made in _iter_operations(patterns, schemas):
        paths.setdefault(path, {})[method] = made
    return {
        "openapi": "3.1.0",
        "info": {"title": "Netzwart", "version": "1", "description": "docs/api.md says how to use it."},
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}],
        "tags": [{"name": prefix, "description": cleandoc(view.__doc__ or "")} for prefix, view, _basename in prefixes],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(components.schemas.items())),
            "responses": {"Problem": build_problem_response()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
            },
        },
    }


def _iter_operations(patterns: Iterable[URLPattern], schemas: SchemaReferences) -> Iterator[tuple[str, str, Shape]]:
    for pattern in patterns:
        callback: Any = pattern.callback
        known = getattr(callback, "initkwargs", {})
        if "basename" not in known:
            continue  # the view that lists the collections
        path = "/api/" + re.sub(r"\(\?P<\w+>[^)]*\)", "{id}", str(pattern.pattern)).strip("^$").replace("\\", "").replace("/?", "/")
        for method, action in callback.actions.items():
            if method in callback.cls.http_method_names and method != "head":
                made = build_operation(callback.cls, known["basename"], method, action, bool(known.get("detail")), schemas)
                yield path, method, made | {"tags": ["/".join(path.split("/")[2:4])]}
