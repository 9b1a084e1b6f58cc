"""The OpenAPI document declares everything that operations take and answer, and operations answer nothing else."""

import json
import re
from collections.abc import Iterator
from itertools import cycle, islice, product
from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.lib.api.openapi.views import get_openapi_document
from portal.api import router
from tests import factories
from tests.api_responses import wrong as wrong_texts

JSON = "application/json"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TYPES: dict[str, Any] = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict, "number": (int, float)}


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def operations() -> Iterator[tuple[str, str, Any]]:
    for path, methods in get_openapi_document(router)["paths"].items():
        for method, each in methods.items():
            yield path, method, each


def wrongs(value: Any, shape: Any, at: str = "") -> Iterator[str]:
    """Yield where a value does not match its schema. Knows the part of JSON Schema that the document uses."""
    if "$ref" in shape:
        shape = get_openapi_document(router)["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    for key in ("oneOf", "anyOf"):
        if key in shape:
            yield from min((list(wrongs(value, each, at)) for each in shape[key]), key=len)
    kinds = shape.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    fits = [kind for kind in kinds if (value is None if kind == "null" else isinstance(value, TYPES[kind]))]
    if kinds and (not fits or (isinstance(value, bool) and "boolean" not in kinds)):
        yield f"{at}: {value!r} is no {kinds}"
    if "enum" in shape and value not in shape["enum"]:
        yield f"{at}: {value!r} is none of {shape['enum']}"
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from wrongs(each, shape.get("items", {}), f"{at}[{index}]")
    if isinstance(value, dict) and "properties" in shape:
        for name, each in value.items():
            known = shape["properties"].get(name)
            yield from [f"{at}.{name} is not in the schema"] if known is None else wrongs(each, known, f"{at}.{name}")
        yield from (f"{at}.{name} is missing" for name in shape.get("required", []) if name not in value)


def test_no_object_is_free_of_form_and_every_reference_leads_somewhere() -> None:
    known = get_openapi_document(router)
    assert json.loads(json.dumps(known)) == known and known["openapi"] == "3.1.0"
    references = set(re.findall(r'"\$ref": "#/components/(\w+)/(\w+)"', json.dumps(known)))
    assert all(name in known["components"][part] for part, name in references)

    lists = re.findall(r'"(?:type|enum|required)": (\[[^\]]*\])', json.dumps(known))  # JSON Schema: items of these lists are unique
    assert [text for text in lists if len(set(json.loads(text))) != len(json.loads(text))] == []

    def formless(shape: Any) -> bool:
        if isinstance(shape, list):
            return any(map(formless, shape))
        if not isinstance(shape, dict):
            return False
        kinds = shape.get("type")
        is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
        return (is_object and not shape.keys() & {"properties", "additionalProperties"}) or any(map(formless, shape.values()))

    assert [name for name, shape in known["components"]["schemas"].items() if formless(shape) or not shape] == []
    assert [(path, method) for path, method, each in operations() if formless(each)] == []
    identifiers = [each["operationId"] for _path, _method, each in operations()]
    assert len(identifiers) == len(set(identifiers))


def list_mismatches(answer: Any, responses: Any) -> list[str]:
    """Return where an answer differs from the declared responses of its operation."""
    declared = responses.get(str(answer.status_code))
    if declared is None:
        return [f"{answer.status_code} is not declared"]
    if "$ref" in declared:
        declared = get_openapi_document(router)["components"]["responses"][declared["$ref"].rpartition("/")[2]]
    if not answer.content:
        return []
    content = declared.get("content", {}).get(answer["Content-Type"])
    return [f"{answer['Content-Type']} is not declared"] if content is None else list(wrongs(answer.json(), content["schema"]))


BODIES = ("{}", "[]", "[{}]", '[{"id": 1}]', "{", "null")
IDS = ("999999999", "x", "1")


def list_requests(path: str, method: str, *, all_pairs: bool) -> Iterator[tuple[str, str]]:
    """Yield paths with an id, each with a body: all pairs, or as few as have each id and each body once."""
    paths = [path.replace("{id}", pk) for pk in IDS] if "{id}" in path else [path]
    bodies = BODIES if method != "get" else ("",)
    return product(paths, bodies) if all_pairs else islice(zip(cycle(paths), cycle(bodies), strict=False), max(len(paths), len(bodies)))


@pytest.mark.deep
def test_every_operation_answers_what_it_declares_to_everybody(
    api: Client, network: factories.Network, pytestconfig: pytest.Config
) -> None:
    """Users without the right are refused before their body is read. They send all pairs of ids and bodies with --deep only."""
    _token, key = tokens.create_token(user=factories.user("nobody", staff=False), name="script")
    others, deep = (Client(headers={"authorization": f"Bearer {key}"}), Client()), bool(pytestconfig.getoption("--deep"))
    wrong = []
    for path, method, each in operations():
        codes = set()
        for client in (api, *others):
            for address, body in list_requests(path, method, all_pairs=deep or client is api):
                answer = client.generic(method.upper(), address, body, content_type=JSON)
                codes.add(answer.status_code)
                wrong += [(method, address, body, said) for said in list_mismatches(answer, each["responses"])]
        expected = {401} if each["operationId"].startswith("token_") else {401, 403}  # every account may see its own tokens
        assert expected <= codes, (method, path, codes)
    assert wrong == []


def test_every_path_refuses_the_methods_that_it_does_not_offer_and_names_the_others(api: Client, network: factories.Network) -> None:
    for path, methods in get_openapi_document(router)["paths"].items():
        answer = api.options(path.replace("{id}", "1"))
        assert answer.status_code == 405 and wrong_texts(answer), (path, answer.content)
        assert {method.upper() for method in methods} <= set(answer["Allow"].split(", ")) <= {*METHODS, "HEAD"}, (path, answer["Allow"])
    assert [api.options(path).status_code for path in ("/api/", "/metrics", "/api/exports/")] == [405] * 3


def test_objects_of_every_collection_are_what_the_schema_says(api: Client, network: factories.Network) -> None:
    seen, wrong = 0, list[str]()
    for path, method, each in operations():
        if method == "get" and each["operationId"].endswith("_list"):
            schema = each["responses"]["200"]["content"][JSON]["schema"]
            for query in ("", "?cursor=", "?brief=1"):
                page = api.get(path + query).json()
                wrong += [f"{path}{query} {each}" for each in wrongs(page, schema)]
                seen += len(page["results"])
    assert wrong == []
    assert seen > 50


def test_a_value_that_is_not_as_declared_would_be_seen() -> None:
    shape = {"type": "object", "properties": {"port": {"type": "integer"}, "at": {"type": ["string", "null"]}}, "required": ["port"]}
    assert list(wrongs({"port": 1, "at": None}, shape)) == []
    assert len(list(wrongs({"port": "1", "at": 2, "more": 3}, shape))) == 3
    assert len(list(wrongs({"at": None}, shape))) == 1


def test_everybody_reads_the_description(db: None) -> None:
    stranger = Client()
    assert stranger.get("/api/schema/").json()["info"]["title"] == "Netzwart"
    page = stranger.get("/api/docs/").content.decode()
    assert all(f'id="{prefix.replace("/", "-")}"' in page for prefix, _viewset, _basename in router.registry)
    assert 'id="conflict"' in page and "<script" not in page.partition("<main")[2]
