"""Table of what each role may do on every route: the routes come from the URL configuration, the rights from route_rights.py.

The table is published as docs/permissions.md; `manage.py permissions` writes it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts.roles import Right, Role, compute_rights
from apps.accounts.route_rights import API, DEVELOPMENT, PAGES, ROOT_OF_API

ANONYMOUS: Final = "anonymous"
COLUMNS: Final = (ANONYMOUS, *(role.value for role in Role))
NOTHING: Final = "–"


@dataclass(frozen=True)
class PermissionRow:
    """A page, which can be looked at and sent to, or one action of the API with its method.

    basename, action: "" for a page. see, change: the right that this needs, None if the route does not offer it.
    """

    name: str
    path: str
    see: Right | None
    change: Right | None
    method: str = ""
    basename: str = ""
    action: str = ""

    @property
    def key(self) -> str:
        return f"{self.method} {self.name}".strip()

    def render_cell(self, column: str) -> str:
        """Return what the column's role may do here, in the words of the document."""
        held = (
            compute_rights([] if column == ANONYMOUS else [column], by_token=bool(self.method)) if column != ANONYMOUS else {Right.ANYONE}
        )
        words = [word for word, right in (("see", self.see), ("send", self.change)) if right in held]
        return ", ".join(words) or NOTHING


def list_url_patterns() -> list[tuple[str, str, URLPattern]]:
    """Return name with namespaces, path and pattern of every URL, sorted by name."""
    every = _walk(get_resolver().url_patterns)
    return sorted((each for each in every if each[0] not in DEVELOPMENT), key=lambda each: (each[0], each[1]))


def _walk(patterns: Any, namespace: str = "", prefix: str = "") -> Iterator[tuple[str, str, URLPattern]]:
    for each in patterns:
        path = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _walk(each.url_patterns, f"{namespace}{each.namespace}:" if each.namespace else namespace, path)
        else:
            yield f"{namespace}{each.name or each.lookup_str}", path, each


def list_unknown_routes() -> list[str]:
    """Return the routes that have no line in route_rights.py: they are closed to everybody until they get one."""
    return sorted({key for name, _path, pattern in list_url_patterns() for key in _list_unknown(name, pattern)})


def _list_unknown(name: str, pattern: URLPattern) -> list[str]:
    if not name.startswith("api:"):
        return [] if name in PAGES else [name]
    return [] if name == "api:api-root" or _get_basename(pattern) in API else [name]


def _get_basename(pattern: URLPattern) -> str:
    return str(getattr(pattern.callback, "initkwargs", {}).get("basename", ""))


def list_routes() -> list[PermissionRow]:
    """Return all routes that have a line, each once: an address with a suffix for the format is the same route."""
    known: dict[str, PermissionRow] = {}
    for name, path, pattern in list_url_patterns():
        for route in _iter_api_routes(name, path, pattern) if name.startswith("api:") else _list_page_routes(name, path):
            known.setdefault(route.key, route)
    return list(known.values())


def _list_page_routes(name: str, path: str) -> list[PermissionRow]:
    page = PAGES.get(name)
    return [PermissionRow(name, path, page.see, page.change)] if page else []


def _iter_api_routes(name: str, path: str, pattern: URLPattern) -> Iterator[PermissionRow]:
    if name == "api:api-root":
        yield PermissionRow(name, path, ROOT_OF_API.read, None, method="GET", action="root")
        return
    basename = _get_basename(pattern)
    offered = pattern.callback.cls.http_method_names  # type: ignore[attr-defined]  # DRF's views carry their class
    for lower, action in pattern.callback.actions.items():  # type: ignore[attr-defined]  # and their map from methods to actions
        if basename not in API or lower not in offered or lower == "head":
            continue
        method, right = lower.upper(), API[basename].find_right(action, lower.upper())
        see, change = (right, None) if method == "GET" else (None, right)
        yield PermissionRow(name, path, see, change, method, basename, action)


def render_document() -> str:
    """Return the text of docs/permissions.md."""
    all_routes = list_routes()
    pages, actions = [each for each in all_routes if not each.method], [each for each in all_routes if each.method]
    return "\n".join(
        [
            "# Who may do what",
            "",
            "This page is for administrators who assign roles, and for auditors: what may each role do? What the roles are for is in",
            "[accounts](accounts.md). `manage.py permissions` writes the tables from `apps/accounts/route_rights.py`; a test asks every",
            "address as every role and compares.",
            "",
            "A person with several roles may do what any of them allows. *See* means GET, *send* any request that changes something.",
            "The role automation counts only with an API token, never in a browser. What is not in these tables is closed to everyone.",
            "",
            f"## Pages ({len(pages)})",
            "",
            *_iter_table_lines(pages),
            "",
            f"## API ({len(actions)})",
            "",
            *_iter_table_lines(actions),
            "",
        ]
    )


def _iter_table_lines(rows: list[PermissionRow]) -> Iterator[str]:
    yield "| " + " | ".join(("Route", "Address", ANONYMOUS, *(str(role.value).replace("_", " ") for role in Role))) + " |"
    yield "|---" * (len(COLUMNS) + 2) + "|"
    for each in rows:
        yield (
            "| " + " | ".join((f"`{each.key}`", f"`/{_render_path(each.path)}`", *(each.render_cell(column) for column in COLUMNS))) + " |"
        )


def _render_path(path: str) -> str:
    """Return an address as people write it: the parameter's name instead of its pattern."""
    plain = re.sub(r"<(?:\w+:)?(\w+)>", r"\1", re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"\1", path))
    return plain.replace("^", "").replace("$", "").replace("\\", "").replace("/?", "/")
