"""Live events change open pages without a reload: a real process of live events, three users, a ticket and a rollout."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db.models.expressions import RawSQL
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from apps.deployments.models import GatewayState, Revision, Rollout
from apps.members.models import Member
from apps.nat.services import add_forward
from apps.tickets import own_tickets, services
from tests import factories
from tests.events_client import events_process
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser]
LISTENS = "html[data-stream=up]"


def test_pages_change_the_moment_something_happens(
    chromium: Browser, live_server: LiveServer, settings: LazySettings, tmp_path: Path, network: factories.Network
) -> None:
    selin, theo = factories.user("selin", staff=False), factories.user("theo", roles=["helpdesk"])
    member = factories.member("Selin Kaya", user=selin)
    ticket = own_tickets.open_own_ticket(member=member, subject="No IPv6 since the move", text="Since Monday.", by=selin)
    rollout = Rollout.objects.create(group=network.group, revision=Revision.objects.create(group=network.group, snapshot="1:1:"))
    GatewayState.objects.bulk_create(GatewayState(gateway=gateway) for gateway in network.gateways)
    with ExitStack() as stack:
        process = stack.enter_context(events_process(tmp_path, NETZWART_URL=live_server.url))
        settings.EVENTS_URL = f"http://localhost:{process.port}/events/"
        settings.SECURE_CSP = settings.SECURE_CSP | {"connect-src": ["'self'", f"http://localhost:{process.port}"]}
        faults: list[str] = []
        pages = []
        staff = f"/tickets/{ticket.pk}/"
        for user, path in ((network.admin, staff), (theo, staff), (selin, f"/me/tickets/{ticket.pk}/")):
            window = signed_in(chromium, live_server, user, locale="en-GB")
            stack.callback(window.close)
            page = window.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
            page.goto(path)
            expect(page.locator(LISTENS)).to_be_attached()
            page.evaluate("window.stayed = true")
            pages.append(page)
        mara, other, asks = pages

        expect(other.get_by_text("Mara Lindqvist is looking at this.")).to_be_visible()
        mara.locator("#answer textarea").fill("Which laptop is it?")
        expect(other.get_by_text("Mara Lindqvist is writing here.")).to_be_visible()
        services.take_ticket(ticket=ticket, by=network.admin)
        expect(other.get_by_text("Mara Lindqvist has taken this ticket meanwhile.")).to_be_visible()

        services.answer_ticket(ticket=ticket, text="Restart the router once.", by=network.admin)
        expect(asks.get_by_text("Restart the router once.")).to_be_visible()
        other.locator("#answer textarea").fill("Half a sentence")
        other.get_by_role("button", name="Show").click()
        expect(other.get_by_text("Restart the router once.")).to_be_visible()
        expect(other.locator("#answer textarea")).to_have_value("Half a sentence")
        expect(other.get_by_text("something new in the thread")).to_have_count(0)
        assert [page.evaluate("window.stayed") for page in pages] == [True, True, True]

        mara.goto("/rollouts/")
        expect(mara.locator(LISTENS)).to_be_attached()
        expect(mara.locator("#running")).to_contain_text(f"{rollout}")
        expect(mara.locator("#rollouts tbody tr").first).to_contain_text("Queued")
        Rollout.objects.filter(pk=rollout.pk).update(state=Rollout.State.CONFIRMED)
        expect(mara.locator("#rollouts tbody tr").first).to_contain_text("Confirmed")
        expect(mara.locator("#running")).to_contain_text("no revision on the gateways yet")
        assert faults == []


def test_panels_show_what_another_browser_added_and_leave_alone_what_is_being_typed(
    chromium: Browser, live_server: LiveServer, settings: LazySettings, tmp_path: Path, network: factories.Network
) -> None:
    resident, selin = network.residents["m1"], factories.user("selin", staff=False)
    Member.objects.filter(pk=resident.member.pk).update(user=selin)
    GatewayState.objects.bulk_create(GatewayState(gateway=gateway) for gateway in network.gateways)

    def added(port: int) -> None:
        """Add a forward as another user, and record that both gateways have it."""
        add_forward(
            holding=resident.holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=port, by=network.admin
        )
        GatewayState.objects.update(snapshot=RawSQL("pg_current_snapshot()", []))

    added(8443)
    with ExitStack() as stack:
        process = stack.enter_context(events_process(tmp_path, NETZWART_URL=live_server.url))
        settings.EVENTS_URL = f"http://localhost:{process.port}/events/"
        settings.SECURE_CSP = settings.SECURE_CSP | {"connect-src": ["'self'", f"http://localhost:{process.port}"]}
        pages = []
        for user, path in ((network.admin, f"/members/{resident.member.pk}/"), (selin, "/me/")):
            window = signed_in(chromium, live_server, user, locale="en-GB")
            stack.callback(window.close)
            page = window.new_page()
            page.goto(path)
            expect(page.locator(LISTENS)).to_be_attached()
            expect(page.locator("#forwards")).to_contain_text("TCP 8443")
            pages.append(page)
        mara, own_page = pages
        purpose = mara.locator("#forward-form").get_by_label("What for")
        purpose.fill("Minecr")
        added(9443)
        expect(mara.locator("#forwards")).to_contain_text("TCP 9443")
        expect(mara.locator("#forwards-used")).to_have_text("2 of 8 used")
        expect(own_page.locator("#forwards")).to_contain_text("TCP 9443")
        mara.keyboard.type("aft")
        expect(purpose).to_have_value("Minecraft")
        mara.locator("#forwards").get_by_role("switch", name="TCP 9443").focus()
        added(10443)
        expect(mara.locator("#forwards")).to_contain_text("TCP 10443")
        expect(mara.locator("#forwards").get_by_role("switch", name="TCP 9443")).to_be_focused()
