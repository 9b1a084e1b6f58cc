"""Limits that the web server applies by route before Django sees a request."""

import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from apps.lib.api.problems import MEDIA_TYPE
from apps.lib.web.path_redaction import redact_path
from portal.web.body_limits import UPLOADS, USUAL, get_body_limit
from portal.web.wsgi_bridge import WsgiBridge

ROOT = Path(__file__).parents[2]
BEARERS = {"token", "key"}
"""What routes call a part of the path that opens something for whoever has it."""


def patterns(of: URLResolver | URLPattern, before: str = "", names: tuple[str, ...] = ()) -> Iterator[tuple[str, str, Any]]:
    """Yield each route: its path as written, its full name, and its view."""
    path = before + str(of.pattern)
    if isinstance(of, URLPattern):
        yield path, ":".join((*names, of.name or "")), of.callback
        return
    for each in of.url_patterns:
        yield from patterns(each, path, (*names, of.namespace) if of.namespace else names)


ROUTES = [each for of in get_resolver().url_patterns for each in patterns(of)]


def test_every_page_that_takes_files_says_how_much_and_no_other_does() -> None:
    taking = {name for _path, name, view in ROUTES if "request.FILES" in _source(view)}
    assert taking | _list_large_collections().keys() == set(UPLOADS)


def test_a_collection_that_takes_large_requests_takes_as_much_as_the_web_server_lets_through() -> None:
    large = _list_large_collections()
    assert large and all(UPLOADS[name] == most for name, most in large.items())


def _list_large_collections() -> dict[str, int]:
    """Return the most octets of a request by the route of each collection whose view set takes more than usual."""
    views = {name: getattr(view, "cls", None) for _path, name, view in ROUTES if name.endswith("-list")}
    limits = {name: getattr(view, "largest_body", None) for name, view in views.items()}
    return {name: most for name, most in limits.items() if most}


def _source(view: Any) -> str:
    try:
        return inspect.getsource(inspect.unwrap(view))
    except (OSError, TypeError):
        return ""


def build_path(route: str, part: str) -> str:
    """Return a path of this route, with the same text for each of its variable parts."""
    return "/" + re.sub(r"\(\?P<\w+>[^)]*\)|<[^>]*>", part, route).replace("^", "").replace("$", "")


CADDYFILE = (ROOT / "portal/debian/Caddyfile").read_text()
NGINX = (ROOT / "docs/live.md").read_text().split("```nginx\n")[1].split("```")[0]


@pytest.mark.parametrize("name", UPLOADS)
def test_the_proxies_of_the_documentation_let_through_what_the_portal_takes(name: str) -> None:
    [path] = {build_path(route, "7") for route, each, _view in ROUTES if each == name}
    assert get_body_limit(path) == UPLOADS[name]
    [files] = re.findall(r"@files path_regexp (\S+)", CADDYFILE)
    large, small = re.findall(r"max_size (\d+)MB", CADDYFILE)
    assert UPLOADS[name] <= int(large if re.search(files, path) else small) * 10**6, "Caddy"
    assert UPLOADS[name] <= find_nginx_limit(path), "nginx"


def find_nginx_limit(path: str) -> int:
    """Return the octets that nginx takes: an exact location wins, else the first pattern, else the longest prefix (its core module)."""
    ranks = {"=": 3, "~": 2, "": 1}
    found = []
    for kind, where, body in re.findall(r"location (?:([=~]) )?(\S+) \{(.*)\}", NGINX):
        if {"=": path == where, "~": bool(re.search(where, path)), "": path.startswith(where)}[kind]:
            limit = re.search(r"client_max_body_size (\d+)m", body)
            found.append((ranks[kind], len(where) if kind == "" else 0, int(limit[1]) if limit else 1))
    first = max(found, key=lambda each: each[:2])
    return first[2] << 20


@pytest.mark.parametrize(("path", "most"), [("/account/login/", USUAL), ("/nothing/here/", USUAL), ("/api/members/members/", 2_621_440)])
def test_other_pages_take_no_more_than_usual(path: str, most: int) -> None:
    assert get_body_limit(path) == most


def test_no_route_brings_a_token_into_the_access_log() -> None:
    holding = [path for path, _name, _view in ROUTES if BEARERS & set(re.findall(r"<(?:\w+:)?(\w+)>", path))]
    assert holding
    for path in holding:
        assert "secret-word" not in redact_path(build_path(path, "secret-word")), path


def test_a_path_stays_one_line_of_the_log() -> None:
    assert redact_path("/a\nGET /b\x1b[2J") == "/a\\nGET /b\\x1b[2J"


@pytest.mark.parametrize(("path", "kind"), [("/api/members/members/", MEDIA_TYPE), ("/members/", "text/html; charset=utf-8")])
def test_an_address_that_is_too_long_is_told_before_django_sees_it(path: str, kind: str) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    scope = {"method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"1," * 5000, "headers": []}
    asyncio.run(WsgiBridge(lambda _environ, _start: [], 1)(scope, receive, send))
    start, body = sent
    assert start["status"] == 414 and (b"content-type", kind.encode()) in start["headers"]
    assert "8 KiB" in body["body"].decode()
