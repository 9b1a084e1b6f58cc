"""Whole stories of a member, the help desk and a network administrator, in both languages. Two gateways in memory.

test_own.py shows that a member's forward carries a real packet.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.utils.translation import gettext, override, pgettext
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.bans.models import BanList, Block
from apps.deployments.models import GatewayState, Hold, Revision
from apps.deployments.services import reconcile
from apps.members.models import Member
from apps.tickets import own_tickets
from apps.tickets.models import Ticket
from tests import factories
from tests.db.conftest import served_network
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole"), pytest.mark.parametrize("language", ["en", "de"])]

__all__ = ["served_network"]


@pytest.fixture
def say(language: str) -> Callable[..., str]:
    """The function that translates a text into the language of the story: `say("Open a port")`, `say("Use %(port)s", port=1)`."""

    def said(text: str, /, context: str = "", **facts: object) -> str:
        with override(language):
            return (pgettext(context, text) if context else gettext(text)) % facts

    return said


@contextmanager
def window(chromium: Browser, server: LiveServer, user: User, language: str) -> Iterator[Page]:
    """Open a window in which the user is signed in. Script errors and violations of the content security policy fail the story."""
    faults: list[str] = []
    context = signed_in(chromium, server, user, locale={"en": "en-GB", "de": "de-DE"}[language])
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
    yield page
    context.close()
    assert faults == []


def selin_of(network: factories.Network) -> User:
    """Return the account of m1's resident."""
    user = factories.user("selin", staff=False)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=user, email="selin@lindenhof.example", name="Selin Kaya")
    return user


def test_a_member_sees_usage_opens_a_port_and_asks_why_it_does_not_work(
    chromium: Browser,
    live_server: LiveServer,
    served_network: factories.Network,
    settings: LazySettings,
    language: str,
    say: Callable[..., str],
) -> None:
    port = urlsplit(live_server.url).port
    hosts = {4: f"127.0.0.1:{port}", 6: "127.0.0.1:1"}  # where no server answers
    settings.CHECK_HOSTS = hosts
    settings.SECURE_CSP = settings.SECURE_CSP | {"img-src": [*settings.SECURE_CSP["img-src"], *hosts.values()]}
    assert reconcile(served_network.group)
    with window(chromium, live_server, selin_of(served_network), language) as page:
        page.goto("/")
        expect(page.get_by_role("heading", name=say("You are connected"))).to_be_visible()
        expect(page.get_by_role("heading", name=say("Traffic"))).to_be_visible()

        page.get_by_role("link", name=say("Open a port")).click()
        page.get_by_label(say("Public port")).fill("443")
        page.get_by_role("button", name=say("Open the port")).click()
        expect(page.get_by_label(say("Public port"))).to_have_attribute("aria-invalid", "true")
        page.get_by_label(say("Public port")).fill("8443")
        page.get_by_role("button", name=say("Open the port")).click()
        expect(page.get_by_text(say("On its way to the gateways"))).to_be_visible()
        assert reconcile(served_network.group)
        expect(page.get_by_role("status").first).to_contain_text(say("Active, %(took)s after saving", took="").split(",")[0])

        GatewayState.objects.filter(gateway__name="nat-1").update(unreachable_since="2026-11-01T12:00Z")
        page.get_by_role("link", name=say("Is it me or the network?")).click()
        what = say("%(gateway)s does not answer", gateway="nat-1")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"{say('It is us: %(what)s', what=what)}.")
        expect(page.locator("[data-browser]")).to_have_text(say("Your browser reached us over IPv4, not over IPv6."))
        page.get_by_role("link", name=say("Open a ticket with this")).click()
        expect(page.locator("pre")).to_contain_text(say("It did not reach us within %(seconds)d s.", seconds=6))
        shown = page.locator("pre").inner_text()
        page.get_by_label(say("Message")).fill("Since noon.")
        page.get_by_role("button", name=say("Send")).click()
        expect(page.get_by_text("Since noon.")).to_be_visible()
    said = Ticket.objects.get().messages.get().text
    assert said.split() == f"Since noon.\n\n{shown}".split()


def test_the_helpdesk_finds_a_member_blocks_unblocks_and_answers(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network, language: str, say: Callable[..., str]
) -> None:
    assert reconcile(served_network.group)
    selin = selin_of(served_network)
    member = Member.objects.get(user=selin)
    ticket = own_tickets.open_own_ticket(member=member, subject="No IPv6", text="Since the move.", by=selin)
    with window(chromium, live_server, factories.user("helge", roles=["helpdesk"]), language) as page:
        page.goto("/")
        page.get_by_role("searchbox", name=say("Search")).fill("Selin Kaya")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Selin Kaya")).to_be_visible()
        expect(page.locator("#check")).to_contain_text(say("The network is fine as far as the portal can see, and the address is active"))

        page.get_by_role("link", name=say("Block…")).click()
        page.get_by_label(say("Reason")).select_option("unpaid")
        page.get_by_role("button", name=say("Block", context="verb"), exact=True).click()
        expect(page.get_by_text(say("On its way to %(gateways)s.", gateways="nat-1, nat-2")).first).to_be_visible()
        assert reconcile(served_network.group)
        page.reload()
        expect(page.get_by_text(say("In force."))).to_be_visible()
        page.get_by_role("link", name=say("Lift…")).click()
        page.get_by_role("dialog").get_by_role("button", name=say("Lift the block")).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert not Block.objects.filter(valid__upper_inf=True).exists()

        page.goto("/tickets/")
        page.get_by_role("link", name="No IPv6").click()
        answer = page.locator("#answer")
        answer.get_by_label(say("Message")).fill("Look now.")
        answer.get_by_role("button", name=say("Send"), exact=True).click()
        expect(page.get_by_text(say("Their turn."))).to_be_visible()
    with window(chromium, live_server, selin, language) as page:
        page.goto("/me/tickets/")
        page.get_by_role("link", name="No IPv6").click()
        expect(page.get_by_text("Look now.")).to_be_visible()
    ticket.refresh_from_db()
    assert ticket.state == Ticket.State.WAITING


def test_a_network_admin_makes_a_rule_deploys_it_goes_back_and_releases(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network, language: str, say: Callable[..., str]
) -> None:
    assert reconcile(served_network.group)
    before, banlist = Revision.objects.get(), BanList.objects.create(name="Scanners")
    with window(chromium, live_server, factories.user("nora", roles=["network_admin"]), language) as page:
        page.goto(f"/bans/{banlist.pk}/")
        page.locator("#add").get_by_label(say("Address or prefix")).fill("203.0.113.66")
        page.locator("#add").get_by_label(say("Comment")).fill("scans")
        page.get_by_role("button", name=say("Ban", context="verb"), exact=True).click()
        row = page.get_by_role("row", name="203.0.113.66")
        expect(row).to_be_visible()
        assert reconcile(served_network.group)
        page.reload()
        expect(row.locator("[id^=posts]")).to_contain_text(say("both"))

        page.goto(f"/rollouts/revisions/{before.pk}/back/")
        expect(page.get_by_text("203.0.113.66").first).to_be_visible()
        page.get_by_label(say("Why")).fill("It was the wrong one.")
        page.get_by_role("button", name=re.compile(re.escape(str(before)))).click()
        expect(page.get_by_text(say("The group is on hold at %(revision)s, which goes out in a moment.", revision=before))).to_be_visible()
        assert reconcile(served_network.group)
        page.goto(f"/bans/{banlist.pk}/")
        expect(row.locator("[id^=posts]")).not_to_contain_text(say("both"))

        page.goto(f"/rollouts/groups/{served_network.group.pk}/release/")
        page.get_by_role("button", name=say("Release %(group)s", group=served_network.group)).click()
        expect(page.get_by_text(say("Released. The desired state goes out in a moment."))).to_be_visible()
        assert reconcile(served_network.group)
        page.goto(f"/bans/{banlist.pk}/")
        expect(row.locator("[id^=posts]")).to_contain_text(say("both"))
    assert not Hold.objects.filter(released=None).exists()
