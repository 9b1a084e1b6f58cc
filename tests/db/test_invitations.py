"""Invitations and changes of e-mail addresses, with mail that goes through a real SMTP server."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.db.models.functions import Now
from django.test import Client
from django.utils.http import int_to_base36

from apps.accounts import invitations
from apps.accounts.models import Invitation, User
from apps.lib.errors import Problem
from apps.mail.delivery import deliver_due_mails
from apps.mail.smtp import SmtpConnection
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_signing_in import PASSWORD, reauthenticate, sign_in
from tests.fake_smtp import Post, post

ADDRESS = "ines@lindenhof.example"
OTHER = "alice@lindenhof.example"
OF_INES = {"first_name": "Ines", "last_name": "Adler", "password": PASSWORD}


class Inbox:
    """The mails that a real SMTP server accepted from the outbox."""

    def __init__(self, server: Post) -> None:
        self.server = server

    def read_last_texts(self) -> dict[str, str]:
        """Deliver the outbox and return the last text for each address."""
        deliver_due_mails(SmtpConnection(self.server.server))
        return {str(mail["To"]): mail.get_content() for mail in self.server.taken}


@pytest.fixture
def inbox(settings: LazySettings) -> Iterator[Inbox]:
    settings.MAILERS = {"default": {"BACKEND": "apps.mail.backend.Outbox"}}
    with post() as server:
        yield Inbox(server)


def link_in(mail: str) -> str:
    found = re.search(r"http://testserver(\S+)", mail)
    assert found, mail
    return found[1]


def test_an_administrator_invites_by_mail_and_the_link_works_once(db: None, inbox: Inbox) -> None:
    admin = signed_in(factories.user())
    given = {"email": ADDRESS, "roles": ["helpdesk"], "password": "wrong"}
    assert "not your password" in text(admin.post("/account/invitations/", given))
    assert admin.post("/account/invitations/", given | {"password": PASSWORD}).status_code == 302
    link = link_in(inbox.read_last_texts()[ADDRESS])
    assert ADDRESS in text(Client().get(link))
    of_hers = OF_INES | {"username": "ines"}
    assert "too short" in text(Client().post(link, of_hers | {"password": "short"}))
    assert "is taken" in text(Client().post(link, of_hers | {"username": "Mara"}))
    assert Client().post(link, of_hers)["Location"] == "/account/login/"
    ines = User.objects.get(username="ines")
    assert (ines.roles, ines.is_staff) == (["helpdesk"], True)
    assert EmailAddress.objects.get(user=ines).verified
    assert Client().get(link).status_code == 410
    assert Client().post(link, of_hers | {"username": "second"}).status_code == 410
    client = Client()
    assert sign_in(client, ADDRESS)["Location"] == "/"
    assert client.get("/account/invitations/").status_code == 403


def test_a_link_that_is_forged_withdrawn_or_too_old_opens_nothing(db: None) -> None:
    admin = factories.user()
    made, token = invitations.create_invitation(email=ADDRESS, roles=["member"], by=admin)
    assert invitations.find_invitation(token) == made
    assert invitations.find_invitation(f"{made.pk}:{'A' * 43}") is None
    assert invitations.find_invitation(f"{made.pk + 1}:{token.partition(':')[2]}") is None
    Invitation.objects.filter(pk=made.pk).update(expires=Now() - timedelta(seconds=1))
    assert invitations.find_invitation(token) is None
    later, other = invitations.create_invitation(email=ADDRESS.upper(), roles=["member"], by=admin)
    with pytest.raises(Problem, match="invited already"):
        invitations.create_invitation(email=ADDRESS, roles=["member"], by=admin)
    assert signed_in(admin).post(f"/account/invitations/{later.pk}/withdraw/").status_code == 302
    assert invitations.find_invitation(other) is None


def test_nobody_is_invited_twice_or_to_a_role_that_is_none(db: None) -> None:
    admin = factories.user()
    User.objects.filter(pk=admin.pk).update(email=ADDRESS)
    with pytest.raises(Problem, match="has an account already"):
        invitations.create_invitation(email=ADDRESS, roles=["member"], by=admin)
    with pytest.raises(Problem, match="no such role"):
        invitations.create_invitation(email="other@lindenhof.example", roles=["emperor"], by=admin)


def test_who_got_an_account_meanwhile_reads_so_and_the_invitation_stays_open(db: None) -> None:
    made, token = invitations.create_invitation(email=ADDRESS, roles=["helpdesk"], by=factories.user())
    invitations.make_account(email=ADDRESS, username="ines", roles=["member"], **OF_INES)
    answer = Client().post(f"/account/invited/{token}/", OF_INES | {"username": "second"})
    assert answer.status_code == 422
    assert f"There is an account with {ADDRESS} already. Sign in with it, and ask an administrator to give it the roles" in text(answer)
    assert invitations.find_invitation(token) == made
    assert not User.objects.filter(username="second").exists()


def test_an_address_that_another_request_confirmed_a_moment_before_is_refused_in_words(db: None) -> None:
    invitations.make_account(email=ADDRESS, username="ines", roles=["member"], **OF_INES)
    with pytest.raises(Problem, match="There is an account with"):
        invitations.make_account(email=ADDRESS, username="second", roles=["helpdesk"], **OF_INES)
    assert not User.objects.filter(username="second").exists()


def test_both_addresses_hear_of_a_change_and_the_new_one_counts_when_its_link_was_opened(db: None, inbox: Inbox) -> None:
    user = factories.user("ines", staff=False)
    User.objects.filter(pk=user.pk).update(email=ADDRESS)
    EmailAddress.objects.create(user=user, email=ADDRESS, primary=True, verified=True)
    client = Client()
    sign_in(client, "ines")
    assert client.post("/account/email/", {"email": "new@lindenhof.example", "action_add": ""})["Location"].startswith(
        "/account/reauthenticate/"
    )
    reauthenticate(client)
    client.post("/account/email/", {"email": "new@lindenhof.example", "action_add": ""})
    told = inbox.read_last_texts()
    assert set(told) == {"new@lindenhof.example"}
    assert User.objects.get(pk=user.pk).email == ADDRESS
    link = link_in(told["new@lindenhof.example"])
    client.get(link)
    assert User.objects.get(pk=user.pk).email == ADDRESS, "opening alone, as a mail scanner does, changes nothing"
    client.post(link)
    assert User.objects.get(pk=user.pk).email == "new@lindenhof.example"
    assert f"from {ADDRESS} to new@lindenhof.example" in " ".join(inbox.read_last_texts()[ADDRESS].split())


@pytest.fixture
def ines(db: None) -> User:
    """An account whose address is confirmed."""
    user = factories.user("ines", staff=False)
    User.objects.filter(pk=user.pk).update(email=ADDRESS)
    EmailAddress.objects.create(user=user, email=ADDRESS, primary=True, verified=True)
    return user


def note_new_address(user: User, address: str) -> Client:
    """Ask for a change to this address, whose link nobody opens. Return the client of the user's session."""
    client = Client()
    sign_in(client, user.username)
    reauthenticate(client)
    client.post("/account/email/", {"email": address, "action_add": ""})
    assert not EmailAddress.objects.get(user=user, email=address).verified
    return client


def test_who_only_owns_an_address_that_was_noted_gets_no_new_password_and_does_not_sign_in_by_it(
    ines: User, mailoutbox: list[EmailMessage]
) -> None:
    note_new_address(ines, OTHER)
    mailoutbox.clear()
    assert Client().post("/account/password/reset/", {"email": OTHER})["Location"] == "/account/password/reset/done/"
    assert mailoutbox == []
    Client().post("/account/password/reset/", {"email": ADDRESS.upper()})
    assert [sent.to for sent in mailoutbox] == [[ADDRESS]]
    assert "Wrong username, e-mail address or password" in text(sign_in(Client(), OTHER))


def test_an_address_that_somebody_else_only_noted_can_be_invited_and_becomes_its_owner_s(ines: User) -> None:
    note_new_address(ines, OTHER)
    made, _token = invitations.create_invitation(email=OTHER, roles=["helpdesk"], by=factories.user())
    alice = invitations.accept_invitation(made, username="alice", **OF_INES)
    client = Client()
    sign_in(client, OTHER)
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_an_account_is_found_by_its_own_address_although_another_noted_it(ines: User, mailoutbox: list[EmailMessage]) -> None:
    note_new_address(ines, OTHER)
    mailoutbox.clear()
    mara = factories.user()
    User.objects.filter(pk=mara.pk).update(email=OTHER)
    client = Client()
    sign_in(client, OTHER)
    assert client.session["_auth_user_id"] == str(mara.pk)
    Client().post("/account/password/reset/", {"email": OTHER})
    assert [(f"/key/{int_to_base36(mara.pk)}-" in str(sent.body), sent.to) for sent in mailoutbox] == [(True, [OTHER])]


def test_a_new_password_by_mail_drops_a_change_that_waits_and_gives_the_owner_of_that_address_no_new_tries(
    ines: User, inbox: Inbox
) -> None:
    mara = factories.user()
    User.objects.filter(pk=mara.pk).update(email=OTHER)
    note_new_address(ines, OTHER)
    change = link_in(inbox.read_last_texts()[OTHER])
    for _ in range(5):
        sign_in(Client(), "mara", "wrong")
    Client().post("/account/password/reset/", {"email": ADDRESS})
    client = Client()
    form = client.get(link_in(inbox.read_last_texts()[ADDRESS]))["Location"]
    assert client.post(form, {"password1": "a new long secret", "password2": "a new long secret"}).status_code == 302
    assert "Too many tries" in text(sign_in(Client(), "mara"))
    Client().post(change)
    ines.refresh_from_db()
    assert (ines.email, [each.email for each in EmailAddress.objects.filter(user=ines)]) == (ADDRESS, [ADDRESS])


def test_nobody_gives_up_the_own_address_to_take_another_without_its_link(ines: User) -> None:
    client = Client()
    sign_in(client, "ines")
    reauthenticate(client)
    client.post("/account/email/", {"email": ADDRESS, "action_remove": ""})
    client.post("/account/email/", {"email": OTHER, "action_add": ""})
    client.post("/account/email/", {"email": OTHER, "action_primary": ""})
    ines.refresh_from_db()
    assert (ines.email, invitations.has_account(OTHER)) == (ADDRESS, False)
    client.post("/account/email/", {"email": OTHER, "action_remove": ""})
    assert [each.email for each in EmailAddress.objects.filter(user=ines)] == [ADDRESS]


@pytest.mark.parametrize(
    ("address", "name"), [(ADDRESS, OTHER), (ADDRESS, "ines@"), ("\N{KELVIN SIGN}@lindenhof.example", "\N{KELVIN SIGN}@lindenhof.example")]
)
def test_nobody_takes_a_name_that_may_be_another_s_address(db: None, address: str, name: str) -> None:
    made, token = invitations.create_invitation(email=address, roles=["helpdesk"], by=factories.user())
    answer = Client().post(f"/account/invited/{token}/", OF_INES | {"username": name})
    assert answer.status_code == 422
    assert "A username contains no @ unless it is your own e-mail address." in text(answer)
    assert invitations.find_invitation(token) == made


def test_the_own_address_may_be_the_name_and_names_that_are_there_stay(db: None) -> None:
    made, token = invitations.create_invitation(email=ADDRESS, roles=["helpdesk"], by=factories.user("mara@lindenhof.example"))
    assert Client().post(f"/account/invited/{token}/", OF_INES | {"username": ADDRESS.title()}).status_code == 302
    for name in (ADDRESS, made.by.username):
        assert sign_in(Client(), name)["Location"] == "/"
