"""Documentation of the API: the OpenAPI document for programs, and a page for people."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern
from rest_framework.routers import DefaultRouter

from apps.lib.api.openapi.document import build_document
from apps.lib.api.openapi.json_schema import Shape
from apps.lib.api.problems import KINDS, build_problem_body


@cache
def get_openapi_document(router: DefaultRouter) -> Shape:
    """Return the document. It is built once: it cannot change while the process runs."""
    return build_document([each for each in router.urls if isinstance(each, URLPattern)], router.registry)


def schema(_request: HttpRequest, router: DefaultRouter) -> HttpResponse:
    """Return the OpenAPI 3.1 document as JSON."""
    return JsonResponse(get_openapi_document(router))


def docs(request: HttpRequest, router: DefaultRouter) -> HttpResponse:
    """Show the documentation as a page, with the meaning of each kind of problem."""
    known = get_openapi_document(router)
    problems = [(kind, code, build_problem_body(code)["title"]) for code, kind in KINDS.items()]
    collections = [_describe_collection(known, tag) for tag in known["tags"]]
    return render(request, "lib/api.html", {"collections": collections, "problems": problems})


def _describe_collection(known: Shape, tag: Shape) -> dict[str, Any]:
    operations = [
        {"method": method.upper(), "path": path, "summary": each["summary"]}
        for path, methods in known["paths"].items()
        for method, each in methods.items()
        if tag["name"] in each["tags"]
    ]
    one = next((methods["get"] for path, methods in known["paths"].items() if path == f"/api/{tag['name']}/{{id}}/"), None)
    listed = known["paths"].get(f"/api/{tag['name']}/", {}).get("get", {})
    filters = [each["name"] for each in listed.get("parameters", []) if each["in"] == "query"]
    anchor, fields = tag["name"].replace("/", "-"), list(_iter_fields(known, one))
    return {
        **tag,
        "description": tag["description"].replace("`", ""),
        "anchor": anchor,
        "operations": operations,
        "fields": fields,
        "filters": filters,
    }


def _iter_fields(known: Shape, operation: Shape | None) -> Iterator[dict[str, Any]]:
    if operation is None:
        return
    reference = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    for name, shape in known["components"]["schemas"][reference.rpartition("/")[2]]["properties"].items():
        yield {
            "name": name,
            "kind": describe_shape_in_words(shape),
            "reads": shape.get("readOnly", False),
            "words": shape.get("description", ""),
        }


def describe_shape_in_words(shape: Shape) -> str:
    """Return a type in words: integer; string (date-time); string: tcp, udp."""
    kind = shape.get("type", "object")
    text = ", ".join(kind) if isinstance(kind, list) else str(kind)
    values = ", ".join(str(each) for each in shape.get("enum", []) if each)
    return f"{text}: {values}" if values else f"{text} ({shape['format']})" if "format" in shape else text
