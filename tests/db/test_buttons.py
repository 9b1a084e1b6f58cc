"""No page shows an account a link or button that leads to “This is not open to you”. The table of rights says which would."""

import re
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import Resolver404, resolve

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right, Role
from apps.accounts.route_rights import PAGES
from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from tests import factories
from tests.db.conftest import in_memory
from tests.db.page_client import signed_in, text
from tests.web import demo_scene

SENDS = re.compile(r'<button(?![^>]*type="button")')
LEADS = re.compile(r'<(?:a|area)\s[^>]*?href="([^"]+)"|<form\s([^>]*)>(.*?)</form>|hx-(get|post)="([^"]+)"', re.DOTALL)

ONLY_APPROVERS = ("deployments:", "accounts:")  # namespaces with actions that a network administrator may not do


def shut(page: str, at: str, user: User) -> set[str]:
    """Return the routes, as method and name, that this page leads to and that the user may not use."""
    found = set()
    for link, form, within, verb, asked in LEADS.findall(page):
        if form and not SENDS.search(within):
            continue
        method = "POST" if verb == "post" or 'method="post"' in form else "GET"
        action = re.search(r'(?<![-\w])action="([^"]*)"', form)
        path = urlsplit(unescape(link or asked or (action[1] if action else ""))).path
        name = _name(path or at)
        right = PAGES[name].find_right(method) if name in PAGES else Right.ANYONE
        if right is None or not has_right(user, right):
            found.add(f"{method} {name}")
    return found


def _name(path: str) -> str:
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""


def read_page(client: Client, path: str) -> str:
    answer = client.get(path)
    return text(answer) if answer.status_code == 200 and not answer.streaming else ""


@pytest.mark.django_db(transaction=True)
def test_nobody_is_shown_what_is_not_open_to_him(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            demo_scene.make()
    faults, seen, pages = set(), 0, demo_scene.pages()
    for role in (Role.HELPDESK, Role.AUDITOR, Role.NETWORK_ADMIN):
        user = factories.user(f"a {role}", roles=[role.value])
        client = signed_in(user)
        for page in pages:
            if role == Role.NETWORK_ADMIN and not page.name.startswith(ONLY_APPROVERS):
                continue
            if found := read_page(client, page.path):
                seen += 1
                faults |= {f"{role} on {page.name}: {fault}" for fault in shut(found, urlsplit(page.path).path, user)}
    assert seen > 70
    assert not faults, "\n".join(sorted(faults))
