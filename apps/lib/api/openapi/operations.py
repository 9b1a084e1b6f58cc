"""Builds OpenAPI operation objects (OpenAPI 3.1, section 4.8.10) from the actions of a collection."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any, Final

from rest_framework import serializers

from apps.lib.api.confirmation_wait import ACTIONS, LONGEST, UNLESS_TOLD
from apps.lib.api.filters import CustomFilter, Filter, find_column_filter, list_orderings
from apps.lib.api.openapi.json_schema import TEXT, Shape, make_array
from apps.lib.api.paging import MAX_PAGE_SIZE
from apps.lib.api.problems import MEDIA_TYPE
from apps.lib.api.table_export import CsvNegotiationRenderer, JsonLinesNegotiationRenderer
from apps.lib.api.viewsets import CollectionViewSet

ALWAYS: Final = (401, 403, 406, 429, 503)
READING: Final = (400, *ALWAYS)
WRITING: Final = (400, 409, 412, 413, 415, 422, *ALWAYS)
PROBLEM: Final = {"$ref": "#/components/responses/Problem"}
WORDS: Final = {
    "list": "List",
    "retrieve": "Read one",
    "create": "Add one, or a list of them: all or none",
    "update": "Change one; what is not given stays, where it is optional",
    "partial_update": "Change one; what is not given stays",
    "bulk_update": "Change many, each named by its id: all or none",
    "destroy": "Remove one",
    "bulk_destroy": "Remove many: all or none",
}
CODES: Final = {"create": 201, "destroy": 204, "bulk_destroy": 204}


@dataclass(frozen=True)
class ResponseSpec:
    """Successful response of an action, and the query parameters of the action.

    body: a serializer, a schema, or None for no body. otherwise: another possible response.
    """

    code: int = 200
    body: type[serializers.BaseSerializer[Any]] | Shape | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    otherwise: "ResponseSpec | None" = None


def declare_response(
    code: int, body: type[serializers.BaseSerializer[Any]] | Shape | None = None, **parameters: str
) -> Callable[[Any], Any]:
    """Decorator for actions that do not answer 200 with the collection's object.

    parameters: query parameters with their descriptions. It can be applied twice: the upper one declares the usual response, the
    lower one an alternative.
    """

    def told(action: Any) -> Any:
        action.answers = ResponseSpec(code, body, parameters, getattr(action, "answers", None))
        return action

    return told


@dataclass(frozen=True)
class SchemaReferences:
    """Functions that return a reference to a serializer's schema: for reading, for writing, for partial changes."""

    read: Callable[[Any], Shape]
    write: Callable[[Any], Shape]
    change: Callable[[Any], Shape]


def build_operation(
    view: type[CollectionViewSet], basename: str, method: str, action: str, detail: bool, schemas: SchemaReferences
) -> Shape:
    """Return the operation object of an action."""
    function = getattr(view, action)
    safe, takes = method == "get", _find_request_schema(view, action, function, schemas)
    codes = [*(READING if safe else WRITING), *((404,) if detail else ())]
    doc = cleandoc(function.__doc__ or "") if action not in WORDS else WORDS[action] + "."
    known = {
        "operationId": f"{basename}_{action}",
        "summary": doc.partition("\n")[0],
        "parameters": list(_iter_parameters(view, method, action, detail)),
        "responses": _build_responses(view, action, function, schemas) | {str(code): PROBLEM for code in sorted(codes)},
    }
    return known | ({"requestBody": {"required": True, "content": {"application/json": {"schema": takes}}}} if takes else {})


def _find_request_schema(view: Any, action: str, function: Any, schemas: SchemaReferences) -> Shape | None:
    one = view.serializer_class
    if action == "create":
        return {"oneOf": [schemas.write(one), make_array(schemas.write(one)) | {"minItems": 1}]}
    if action in ("update", "partial_update"):
        return schemas.write(one) if action == "update" else schemas.change(one)
    if action == "bulk_update":
        with_id = {"allOf": [schemas.change(one), {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}]}
        return make_array(with_id) | {"minItems": 1}
    if action == "bulk_destroy":
        by_id = {"type": "object", "properties": {"id": {"type": "integer"}, "version": {"type": "integer"}}, "required": ["id"]}
        return make_array({"oneOf": [{"type": "integer"}, by_id]}) | {"minItems": 1}
    given = getattr(function, "kwargs", {}).get("serializer_class")
    return schemas.write(given) if given else None


def _build_responses(view: Any, action: str, function: Any, schemas: SchemaReferences) -> Shape:
    one = schemas.read(view.serializer_class)
    told: ResponseSpec = getattr(
        function, "answers", ResponseSpec(CODES.get(action, 200), {} if action in ("destroy", "bulk_destroy") else one)
    )
    bodies = {
        "list": {"oneOf": [_build_page_schema(one), _build_walk_schema(one)]},
        "create": {"oneOf": [one, make_array(one)]},
        "bulk_update": make_array(one),
    }
    body = bodies.get(action, _build_body_schema(told, schemas))
    forms: dict[str, Shape] = (
        {form.media_type: {"schema": TEXT} for form in (CsvNegotiationRenderer, JsonLinesNegotiationRenderer)} if action == "list" else {}
    )
    content = {"content": {"application/json": {"schema": body}} | forms} if body else {}
    headers = {"headers": {"ETag": {"schema": TEXT}}} if action in ("retrieve", "create", "update", "partial_update") else {}
    later: Shape = {"202": {"description": "Not every gateway has it yet"} | content | headers} if _can_wait(view, action) else {}
    if told.otherwise:
        shape = _build_body_schema(told.otherwise, schemas)
        later |= {str(told.otherwise.code): _describe_status(told.otherwise.code) | {"content": {"application/json": {"schema": shape}}}}
    return {str(told.code): _describe_status(told.code) | content | headers} | later


def _build_body_schema(told: ResponseSpec, schemas: SchemaReferences) -> Shape:
    return told.body if isinstance(told.body, dict) else schemas.read(told.body) if told.body else {}


def _describe_status(code: int) -> Shape:
    return {"description": "Done" if code != 202 else "It will be done"}


def _build_link_schema() -> Shape:
    return {"type": ["string", "null"], "format": "uri"}


def _build_page_schema(one: Shape) -> Shape:
    fields = {
        "count": {"type": "integer"},
        "next": _build_link_schema(),
        "previous": _build_link_schema(),
        "results": make_array(one) | {"maxItems": MAX_PAGE_SIZE},
    }
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _build_walk_schema(one: Shape) -> Shape:
    fields = {"next": _build_link_schema(), "results": make_array(one) | {"maxItems": MAX_PAGE_SIZE}}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _iter_parameters(view: type[CollectionViewSet], method: str, action: str, detail: bool) -> Iterator[Shape]:
    if detail:
        yield {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    if action in ("list", "retrieve"):
        yield _build_query_parameter("fields", TEXT, "only these fields, with commas between them")
        yield _build_query_parameter("brief", {"type": "string", "enum": ["0", "1"]}, "1: only the shortest form")
    if action == "list":
        yield from _iter_list_parameters(view)
    told: ResponseSpec = getattr(getattr(view, action), "answers", ResponseSpec())
    yield from (_build_query_parameter(name, TEXT, words) for name, words in told.parameters.items())
    if action in ("update", "partial_update", "destroy"):
        yield _build_header_parameter("If-Match", "the ETag that was read; 412 if the object has changed since")
    if _can_wait(view, action):
        yield _build_query_parameter(
            "wait", {"type": "string", "enum": ["confirmed"]}, "answer when every gateway has it; 202 if the timeout ends first"
        )
        yield _build_query_parameter(
            "timeout", {"type": "integer", "minimum": 0, "maximum": LONGEST}, f"longest wait, in seconds (default: {UNLESS_TOLD})"
        )
    if method == "post":
        yield _build_header_parameter(
            "Idempotency-Key", "a repeated request with the same key is done only once; its answer is kept for a day"
        )
    if method != "get":
        yield _build_header_parameter("X-Change-Reason", "the reason, for the history")


def _can_wait(view: type[CollectionViewSet], action: str) -> bool:
    return view.has_activation() and action in ACTIONS


def _iter_list_parameters(view: type[CollectionViewSet]) -> Iterator[Shape]:
    yield _build_query_parameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}, "rows per page (default: 50)")
    yield _build_query_parameter("offset", {"type": "integer", "minimum": 0}, "number of rows to skip")
    yield _build_query_parameter("cursor", TEXT, "walk through all rows by id: empty at first, then the value of “next”")
    yield _build_query_parameter(
        "format", {"type": "string", "enum": ["json", "csv", "jsonl"]}, "csv, jsonl: the whole list as a table, without pages"
    )
    yield _build_query_parameter("ordering", TEXT, "order by these fields, descending with “-”: " + ", ".join(list_orderings(view.filters)))
    for name, each in view.filters.items():
        yield _build_query_parameter(name, dict(each.kind.schema), each.words if isinstance(each, CustomFilter) else _describe_exact(each))
        for lookup in found.lookups if (found := find_column_filter(view.filters, name)) else ():
            if lookup:
                yield _build_query_parameter(f"{name}__{lookup}", _build_lookup_schema(each, lookup), "")


def _describe_exact(each: Filter) -> str:
    return {"covers": "contains this", "net_contains": "contains this", "net_within": "lies in this"}.get(each.exact, "")


def _build_lookup_schema(each: Filter | CustomFilter, lookup: str) -> Shape:
    return {"type": "boolean"} if lookup == "isnull" else TEXT if lookup == "in" else dict(each.kind.schema)


def _build_query_parameter(name: str, schema: Shape, words: str) -> Shape:
    return {"name": name, "in": "query", "schema": schema} | ({"description": words} if words else {})


def _build_header_parameter(name: str, words: str) -> Shape:
    return {"name": name, "in": "header", "schema": TEXT, "description": words}


def build_problem_response() -> Shape:
    """Return the response object shared by all errors."""
    return {"description": "A problem (RFC 9457)", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
