"""The language of pages and mails is that of the profile, else the browser's. Also: members choose which notices they get."""

import re
from typing import Any

from django.core import mail
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import strip_tags

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.accounts.route_rights import PAGES
from apps.mail.models import Message, SwitchedOff
from apps.members.models import Member
from apps.tickets import own_tickets, services
from apps.tickets.models import Ticket
from tests import factories
from tests.db.page_client import signed_in, text

GERMAN = {"Accept-Language": "de-DE,de;q=0.9"}
# Formal German address. Only within a sentence, because at its beginning “Sie” may be the third person.
FORMAL = re.compile(r"(?<=[a-zäöüß,] )(?:Sie|Ihr|Ihre|Ihren|Ihrem|Ihrer|Ihnen)\b")
ADDRESS = "selin@lindenhof.example"


def resident(network: factories.Network) -> tuple[Client, User]:
    account = factories.user("selin", staff=False)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=account, email=ADDRESS)
    return signed_in(account), account


def test_before_signing_in_the_browser_says_it_and_afterwards_the_profile(network: factories.Network) -> None:
    selin, account = resident(network)
    assert 'lang="de"' in text(Client().get("/account/login/", headers=GERMAN))
    assert 'lang="de"' in text(selin.get("/me/", headers=GERMAN))
    User.objects.filter(pk=account.pk).update(language="en")
    answer = selin.get("/me/", headers=GERMAN)
    assert 'lang="en"' in text(answer)
    assert answer.headers["Content-Language"] == "en"


def test_the_choice_of_the_top_bar_is_kept_in_the_profile_and_for_mails(network: factories.Network) -> None:
    selin, account = resident(network)
    member = Member.objects.get(user=account)
    assert selin.post("/language/", {"language": "de", "next": "/me/"}).headers["Location"] == "/me/"
    account.refresh_from_db()
    assert (account.language, Member.objects.get(pk=member.pk).language) == ("de", "de")
    assert Member.objects.get(pk=member.pk).version == member.version
    assert 'lang="de"' in text(signed_in(account).get("/me/", headers={"Accept-Language": "en"}))
    selin.post("/language/", {"language": "xx"})
    account.refresh_from_db()
    assert account.language == "de"
    stranger = Client()
    stranger.post("/language/", {"language": "de"})
    assert 'lang="de"' in text(stranger.get("/account/login/"))


def test_mails_about_an_account_come_in_its_language_else_in_the_one_of_the_page(network: factories.Network) -> None:
    _selin, account = resident(network)
    for language, words in (("", "Passwort"), ("en", "password")):
        User.objects.filter(pk=account.pk).update(language=language, email=ADDRESS)
        Client().post("/account/password/reset/", {"email": ADDRESS}, headers=GERMAN)
        assert words in str(mail.outbox[-1].body)


def test_a_member_switches_notices_off_and_on_and_nothing_else(network: factories.Network) -> None:
    selin, account = resident(network)
    SwitchedOff.objects.create(address="SELIN@lindenhof.example", notice="quota")
    page = text(selin.get("/me/settings/"))
    assert "Mails when your traffic quota is nearly or wholly used up" in page
    assert "Mails to staff about new tickets" not in page
    assert "So that you notice when it was not you." in page
    assert selin.post("/me/settings/", {"language": "de", "notices": ["quota"]}).status_code == 302
    assert not SwitchedOff.objects.filter(notice="quota").exists()
    assert SwitchedOff.objects.filter(notice="answers", address__iexact=ADDRESS).exists()
    account.refresh_from_db()
    assert account.language == "de"
    for wrong in ({"language": "xx"}, {"notices": ["tickets"]}):
        assert selin.post("/me/settings/", wrong).status_code == 422
    assert not SwitchedOff.objects.filter(notice__in=["tickets", "quota"]).exists()


def test_who_wants_no_mails_of_answers_reads_them_on_the_page(network: factories.Network) -> None:
    selin, account = resident(network)
    member = Member.objects.get(user=account)
    ticket = own_tickets.open_own_ticket(member=member, subject="Slow", text="Since noon.", by=account)
    selin.post("/me/settings/", {"notices": ["quota"]})
    services.answer_ticket(ticket=ticket, text="Look now.", by=network.admin)
    assert not Message.objects.filter(to=ADDRESS).exists()
    assert "Look now." in text(selin.get(f"/me/tickets/{ticket.pk}/"))
    assert "Answers here are not mailed" in text(signed_in(network.admin).get(f"/tickets/{ticket.pk}/"))
    selin.post("/me/settings/", {"notices": ["quota", "answers"]})
    services.answer_ticket(ticket=ticket, text="And now?", by=network.admin)
    assert Message.objects.filter(to=ADDRESS, notice="answers").count() == 1


def test_all_tickets_of_a_member_are_to_be_had_page_by_page(network: factories.Network) -> None:
    selin, account = resident(network)
    member, now = Member.objects.get(user=account), timezone.now()
    Ticket.objects.bulk_create(Ticket(subject=f"Number {number:02}", member=member, touched_at=now) for number in range(45))
    pages = [text(selin.get(f"/me/tickets/?page={number}")) for number in (1, 2, 3)]
    assert [sum(f"Number {number:02}" in page for number in range(45)) for page in pages] == [20, 20, 5]
    assert "Rows 21–40 of 45" in pages[1]


def test_no_page_of_accounts_speaks_formally_in_german(network: factories.Network) -> None:
    selin, account = resident(network)
    User.objects.filter(pk=account.pk).update(language="de")
    for name in sorted(PAGES):
        if name.startswith(("account_", "mfa_", "socialaccount_", "own:", "accounts:")) and PAGES[name].see in (Right.ANYONE, Right.OWN):
            try:
                path = reverse(name)
            except NoReverseMatch:
                continue
            asked: list[Any] = [(selin, None), (Client(), None), *([(selin, {}), (Client(), {})] if PAGES[name].change else [])]
            for client, sent in asked:
                headers = {"Accept-Language": "de"}
                answer = client.get(path, headers=headers) if sent is None else client.post(path, sent, headers=headers)
                if answer.headers["Content-Type"].startswith("text/html"):
                    assert not FORMAL.search(strip_tags(answer.content.decode())), name
