"""A member asks on the web, staff answers, the member replies by mail, and both see the correct thread."""

from email.message import EmailMessage
from smtplib import SMTP

import pytest
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from apps.inbound_mail import dispatcher, lmtp
from apps.inbound_mail.models import Arrival
from apps.mail.delivery import deliver_due_mails
from apps.mail.smtp import SmtpConnection
from apps.tickets.models import Ticket
from apps.tickets.services import open_ticket
from tests import factories
from tests.fake_smtp import Post, post
from tests.lmtp_fixtures import lmtp_server, mail_server
from tests.web.conftest import is_answer_to_form, signed_in

pytestmark = [pytest.mark.browser]

SELIN = "selin@lindenhof.example"
MX = "mx.lindenhof.example"


def send_outbox(box: Post) -> list[EmailMessage]:
    """Deliver the outbox, and return the mails as the mail server receives them."""
    before = len(box.taken)
    deliver_due_mails(SmtpConnection(box.server), timezone.now)
    return box.taken[before:]


def reply_to(mail: EmailMessage, text: str) -> EmailMessage:
    """Return a reply as mail programs write it, with the quoted mail below."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = SELIN, mail["Reply-To"], f"Re: {mail['Subject']}"
    made["Message-ID"], made["In-Reply-To"], made["References"] = "<1@mail.selin.example>", mail["Message-ID"], mail["Message-ID"]
    body = mail.get_body(("plain",))
    assert body
    quoted = "".join(f"> {line}\n" for line in body.get_content().splitlines())
    made.set_content(f"{text}\n\nOn Sat, 21 Nov 2026, Lindenhof wrote:\n{quoted}")
    return made


def deliver_to_the_portal(mail: EmailMessage) -> None:
    """Send the mail by SMTP to the network's mail server, which marks the sender as authentic and passes it on by LMTP; then handle it."""
    mail["Authentication-Results"] = f"{MX}; dmarc=pass header.from={SELIN.rpartition('@')[2]}"
    with lmtp_server(lmtp.parse_place("127.0.0.1:0", 0)) as place, mail_server(place) as port, SMTP("127.0.0.1", port) as client:
        client.send_message(mail)
    take = dispatcher.find_mail_handler()
    assert take
    with dispatcher.build_reader() as reader:
        dispatcher.receive_mail(take, reader)


@pytest.mark.django_db(transaction=True)
def test_a_ticket_goes_from_the_web_by_mail_and_back_and_reads_right_on_both_sides(
    chromium: Browser, live_server: LiveServer, settings: LazySettings
) -> None:
    settings.SUPPORT_ADDRESS, settings.MAIL_IN_AUTHSERV_ID = "Support <support@lindenhof.example>", MX
    network = factories.network()
    user = factories.user("selin", staff=False)
    factories.member(email=SELIN, language="en", user=user)
    selin, mara = (signed_in(chromium, live_server, each, locale="en-GB").new_page() for each in (user, network.admin))

    selin.goto("/me/tickets/new/")
    selin.get_by_label("What is it about?").fill("No IPv6 since the move")
    selin.get_by_label("Message").fill("My laptop gets no address.")
    selin.get_by_role("button", name="Send").click()
    expect(selin.get_by_role("heading", name="No IPv6 since the move")).to_be_visible()

    mara.goto("/tickets/")
    mara.get_by_role("link", name="No IPv6 since the move").click()
    answer = mara.locator("#answer")
    answer.get_by_label("Message").fill("Only we read this.")
    answer.get_by_role("button", name="Note for staff").click()
    expect(mara.get_by_text("internal note")).to_be_visible()
    answer.get_by_label("Message").fill("Since when, and which laptop?")
    answer.get_by_role("button", name="Send", exact=True).click()
    expect(mara.get_by_text("Their turn.")).to_be_visible()

    with post() as box:
        [mail] = [each for each in send_outbox(box) if each["To"] == SELIN]
        assert "Only we read this" not in mail.as_string()
        deliver_to_the_portal(reply_to(mail, "Since Monday, a ThinkPad."))
    assert [each.state for each in Arrival.objects.all()] == ["taken"]

    mara.reload()
    expect(mara.get_by_text("Our turn.")).to_be_visible()
    expect(mara.get_by_text("by mail", exact=True)).to_be_visible()
    thread = mara.get_by_role("region", name="Thread").locator("article .nw-panel-body")
    expect(thread).to_have_text(
        ["My laptop gets no address.", "Only we read this.", "Since when, and which laptop?", "Since Monday, a ThinkPad."]
    )
    expect(mara.get_by_text("unverified sender")).to_have_count(0)

    selin.reload()
    told = selin.get_by_role("main").inner_text()
    assert "Only we read this" not in told
    texts = ["My laptop gets no address.", "Since when, and which laptop?", "Since Monday, a ThinkPad."]
    assert [told.count(text) for text in texts] == [1, 1, 1]
    assert sorted(texts, key=told.index) == texts
    for window in (selin, mara):
        window.context.close()


@pytest.mark.django_db(transaction=True)
def test_keys_lead_through_the_list_and_a_ticket_and_never_into_what_is_written(chromium: Browser, live_server: LiveServer) -> None:
    network = factories.network()
    member = factories.member("Selin Kaya")
    for subject in ("First", "Second"):
        open_ticket(subject=subject, text="?", member=member, by=network.admin)
    with signed_in(chromium, live_server, network.admin) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/tickets/")
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(page.locator("[data-selected]")).to_have_text("1 of 2 selected")
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("First")
        page.wait_for_load_state()  # scripts that take keys run after the page was read
        page.keyboard.press("r")
        page.keyboard.type("jar user")
        expect(page.get_by_label("Message", exact=True)).to_have_value("jar user")
        page.get_by_role("heading", level=1).click()
        page.keyboard.press("a")
        expect(page.get_by_label("Assignee")).to_be_focused()
        page.keyboard.press("Escape")
        page.get_by_role("heading", level=1).click()
        page.keyboard.press("u")
        expect(page).to_have_url(f"{live_server.url}/tickets/")


@pytest.mark.django_db(transaction=True)
def test_each_field_of_a_change_of_many_renews_the_preview_and_keeps_what_is_typed(chromium: Browser, live_server: LiveServer) -> None:
    network = factories.network()
    member = factories.member("Selin Kaya")
    first, _second = (open_ticket(subject=subject, text="?", member=member, by=network.admin) for subject in ("First", "Second"))
    Ticket.objects.filter(pk=first.pk).update(priority=Ticket.Priority.URGENT, tags=["nat"])
    with signed_in(chromium, live_server, network.admin) as context:
        page = context.new_page()
        page.goto("/tickets/")
        for subject in ("First", "Second"):
            page.get_by_role("row", name=subject).get_by_role("checkbox").check()
        page.get_by_role("button", name="State, priority, tags…").click()
        change = page.locator("button[name=confirmed]")
        page.get_by_label("Priority").select_option(label="urgent")
        expect(change).to_have_text("Change 1 ticket")
        page.get_by_label("Priority").select_option(label="unchanged")
        expect(change).to_have_count(0)
        page.get_by_label("Add tags").fill("nat")
        page.keyboard.press("Tab")
        page.keyboard.type("old")
        expect(change).to_have_text("Change 1 ticket")
        expect(page.get_by_label("Remove tags")).to_have_value("old")
        page.get_by_label("Add tags").fill("nat, wifi")
        page.keyboard.press("Enter")  # presses the first button, which confirms what was previewed before
        expect(page.locator(".nw-errors")).to_contain_text("The preview was made with other entries.")
        expect(change).to_have_text("Change 2 tickets")
        assert "wifi" not in Ticket.objects.get(pk=first.pk).tags
        change.click()
        expect(page.get_by_text("2 tickets are changed.")).to_be_visible()
    assert {tuple(each.tags) for each in Ticket.objects.all()} == {("nat", "wifi")}


@pytest.mark.django_db(transaction=True)
def test_whoever_switches_single_keys_off_can_hit_any_of_them(chromium: Browser, live_server: LiveServer) -> None:
    network = factories.network()
    open_ticket(subject="First", text="?", member=factories.member("Selin Kaya"), by=network.admin)
    with signed_in(chromium, live_server, network.admin) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/tickets/")
        page.keyboard.press("?")
        page.get_by_role("link", name="Switch off single-key shortcuts").click()
        with page.expect_response(is_answer_to_form):
            page.get_by_role("button", name="Switch off").click()
        page.goto(f"{live_server.url}/tickets/")
        for key in "jx?/":
            page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
        expect(page.locator("#search")).not_to_be_focused()
        expect(page.locator("[aria-keyshortcuts]")).to_have_count(0)
        page.get_by_role("button", name="Keyboard shortcuts: off").click()
        page.get_by_role("link", name="Switch on single-key shortcuts").click()
        with page.expect_response(is_answer_to_form):
            page.get_by_role("button", name="Switch on").click()
        page.goto(f"{live_server.url}/tickets/")
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
