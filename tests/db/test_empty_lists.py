"""Every list on an empty database says what would stand there, and leads to the first step; no page advises a demo network."""

import re
from collections.abc import Iterator
from typing import Final

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import NoReverseMatch, reverse

from apps.accounts.route_rights import DEVELOPMENT, PAGES
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db

LEADS: Final = {
    "desk:dashboard": "/setup/",
    "desk:why": "/setup/",
    "desk:live": "/setup/",
    "traffic:overview": "/setup/",
    "deployments:rollouts": "/setup/",
    "deployments:revisions": "/setup/",
    "gateways:list": "/gateways/groups/add/",
    "gateways:add": "/gateways/groups/add/",
    "gateways:join": "/gateways/groups/add/",
    "network:addresses": "/gateways/groups/add/",
    "desk:members": "/members/add/",
    "desk:member-add": "/tariffs/add/",
    "members:tariffs": "/tariffs/add/",
    "members:sites": "/sites/add/",
    "nat:forwards": "/members/",
    "nat:pinholes": "/members/",
    "bans:blocks": "/members/",
    "rates:list": "/members/",
}
"""Where the empty state of a list leads."""

SAYS: Final = frozenset(
    {
        *(
            "desk:search",
            "desk:system",
            "desk:portal-health",
            "audit:enquiries",
            "alarms:channels",
            "alarms:list",
            "alarms:duty",
            "status:incidents",
            "bans:lists",
            "bans:allowed",
            "bans:listeners",
            "accounts:invitations",
            "deployments:waiting",
            "deployments:compare",
            "deployments:restored",
        ),
        *("webhooks:list", "mail:outbox", "tickets:list", "tickets:canned", "announcements:list", "inbound:arrivals"),
        *("traffic:talkers", "traffic:sums", "traffic:quotas"),
    }
)
"""Lists whose empty state is a sentence: what fills them stands on the same page, or comes by itself."""


@pytest.fixture
def mara() -> Client:
    return signed_in(factories.user())


def iter_pages(client: Client) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page that needs no object."""
    for name in (each for each, rights in PAGES.items() if rights.see and each not in DEVELOPMENT):
        try:
            answer = client.get(reverse(name))
        except NoReverseMatch:
            continue
        if answer.status_code == 200 and isinstance(answer, HttpResponse) and answer.headers["Content-Type"].startswith("text/html"):
            yield name, text(answer)


def find_empty_states(page: str) -> list[str]:
    """Return each empty state of the page up to its end."""
    return [page[found.start() : page.index("</div></div>", found.start())] for found in re.finditer('<div class="nw-empty">', page)]


def test_every_empty_list_is_explained_and_leads_to_the_first_step(mara: Client) -> None:
    found = {name: states for name, page in iter_pages(mara) if (states := find_empty_states(page))}
    assert set(found) == set(LEADS) | SAYS
    astray = {name: found[name] for name, where in LEADS.items() if not any(f'href="{where}"' in state for state in found[name])}
    assert astray == {}


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_list_is_just_an_empty_table_and_no_page_advises_a_demo_network(language: str) -> None:
    client = signed_in(factories.user(language=language))
    for name, page in iter_pages(client):
        assert "<html" not in page or f'<html lang="{language}"' in page, name
        assert not re.search(r"<tbody[^>]*>\s*</tbody>", page), name
        assert "--demo" not in page and "manage.py seed" not in page, name
