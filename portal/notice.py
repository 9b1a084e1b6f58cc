"""The web server's entry to the notice page, and to nothing else: any host, any path, any method gets it.

It runs on a host of its own, to which the gateways lead blocked members' HTTP. It reads no body, keeps no connection and no session.
"""

import os
from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.conf import settings  # noqa: E402 - Django has to be set up first
from django.db import close_old_connections  # noqa: E402

from apps.bans.blocks.notice import STATUS, render_notice  # noqa: E402
from apps.lib.database.query_limits import limit_queries  # noqa: E402
from apps.lib.fields import Address  # noqa: E402

limit_queries()


def application(environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]) -> Iterable[bytes]:
    """WSGI (PEP 3333)."""
    close_old_connections()
    try:
        told = render_notice(find_source(environ), environ.get("HTTP_ACCEPT_LANGUAGE", ""))
    finally:
        close_old_connections()
    start_response(STATUS, [*told.headers, ("Connection", "close")])
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [told.body]


def find_source(environ: dict[str, Any]) -> Address | None:
    """From where the packet came; behind one of our own proxies, from where that says it came."""
    direct = _parse_address(environ.get("REMOTE_ADDR", ""))
    if direct is None or not any(direct in proxy for proxy in settings.NOTICE_PROXIES):
        return direct
    return _parse_address(environ.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip())


def _parse_address(text: str) -> Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
