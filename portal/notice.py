"""WSGI entry point of the notice page. Every host, path and method gets this page.

It runs on a host of its own, to which the gateways redirect blocked members' HTTP. It reads no body, and keeps no connection and
no session.
"""

import os
from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.conf import settings  # noqa: E402 - needs Django to be set up
from django.db import close_old_connections  # noqa: E402

from apps.bans.blocks.notice import STATUS, render_notice  # noqa: E402
from apps.lib.database.query_limits import limit_queries  # noqa: E402
from apps.lib.fields import Address  # noqa: E402

limit_queries()


def application(environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]) -> Iterable[bytes]:
    """WSGI application (PEP 3333)."""
    close_old_connections()
    try:
        told = render_notice(find_client_address(environ), environ.get("HTTP_ACCEPT_LANGUAGE", ""))
    finally:
        close_old_connections()
    start_response(STATUS, [*told.headers, ("Connection", "close")])
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [told.body]


def find_client_address(environ: dict[str, Any]) -> Address | None:
    """Return the source address of the request: the packet's, or behind one of our proxies the one that the proxy reports."""
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
