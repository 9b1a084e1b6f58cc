"""An invitation connects an account with a membership: once, for a limited time, and never a membership that has an account."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.db.models.functions import Now
from django.test import Client

from apps.accounts.models import User
from apps.lib.errors import Conflict
from apps.mail.models import Message
from apps.members import invitation_services
from apps.members.invitation_services import OpenedInvitation
from apps.members.models import Member, MemberInvitation
from tests import factories
from tests.db.page_client import signed_in, text

ADDRESS = "selin@lindenhof.example"
GIVEN = {"username": "selin", "first_name": "Selin", "last_name": "Kaya", "password": "a long new secret"}


def member(network: factories.Network, host: str = "m1") -> Member:
    pk = network.residents[host].member.pk
    Member.objects.filter(pk=pk).update(email=ADDRESS, name="Selin Kaya")
    return Member.objects.get(pk=pk)


def invite_member(network: factories.Network, who: Member) -> str:
    """Invite the member on the page as staff, and return the path of the link in the mail."""
    assert "is on its way" in text(signed_in(network.admin).post(f"/members/{who.pk}/invite/", follow=True))
    mail = Message.objects.order_by("-id")[0]
    assert (mail.to, mail.confidential, mail.about_id) == (ADDRESS, True, who.pk)
    found = re.search(r"/me/join/\S+", mail.text)
    assert found
    return found[0]


def test_who_is_invited_makes_an_account_that_is_the_membership_s(network: factories.Network) -> None:
    who = member(network)
    link, selin = invite_member(network, who), Client()
    page = text(selin.get(link))
    assert "An account for the membership of Selin Kaya" in page
    assert 'value="Kaya"' in page
    assert selin.post(link, GIVEN | {"password": "short"}).status_code == 422
    factories.user("taken", staff=False)
    assert "taken is taken." in text(selin.post(link, GIVEN | {"username": "taken"}))
    assert not User.objects.filter(username="selin").exists()
    said = text(selin.post(link, GIVEN, follow=True))
    assert "Your account was created. Sign in. Your membership is active" in said
    who.refresh_from_db()
    assert who.user is not None
    assert (who.user.username, who.user.roles) == ("selin", ["member"])
    assert EmailAddress.objects.get(user=who.user).verified
    assert "This membership belongs to an account already." in text(Client().get(link))
    assert "selin" in text(signed_in(network.admin).get(f"/members/{who.pk}/"))
    answer = signed_in(network.admin).post(f"/members/{who.pk}/invite/", follow=True)
    assert "Selin Kaya has an account already." in text(answer)


def test_who_is_on_record_with_capitals_signs_in_by_the_address_and_gets_a_new_password(
    network: factories.Network, mailoutbox: list[EmailMessage]
) -> None:
    who = member(network)
    Member.objects.filter(pk=who.pk).update(email="Selin@Lindenhof.example")
    made = invitation_services.invite_member(member=Member.objects.get(pk=who.pk), by=network.admin)
    user = invitation_services.accept_with_new_account(OpenedInvitation(made, "Selin@Lindenhof.example"), **GIVEN)
    mailoutbox.clear()
    assert (user.email, EmailAddress.objects.get(user=user).email) == (ADDRESS, ADDRESS)
    for typed in ("Selin@Lindenhof.example", ADDRESS):
        client = Client()
        client.post("/account/login/", {"login": typed, "password": GIVEN["password"]})
        assert client.session["_auth_user_id"] == str(user.pk)
    Client().post("/account/password/reset/", {"email": "SELIN@lindenhof.example"})
    assert [sent.to for sent in mailoutbox] == [[ADDRESS]]


def test_an_account_that_is_there_is_connected_by_one_press_unless_it_is_another_s(network: factories.Network) -> None:
    who = member(network)
    Member.objects.filter(pk=who.pk).update(state=Member.State.PENDING)
    link, account = invite_member(network, who), factories.user("selin", staff=False)
    User.objects.filter(pk=account.pk).update(email=ADDRESS)
    assert "There is an account with selin@lindenhof.example already." in text(Client().post(link, GIVEN | {"username": "other"}))
    other = factories.user("other", staff=False)
    Member.objects.filter(pk=network.residents["m2"].member.pk).update(user=other)
    refused = signed_in(other).post(link)
    assert refused.status_code == 422
    assert "Your account belongs to the membership M-" in text(refused)
    client = signed_in(account)
    assert "You are signed in as selin." in text(client.get(link))
    assert "Next, an administrator activates your membership" in text(client.post(link, follow=True))
    assert Member.objects.get(pk=who.pk).user == account
    assert client.post(link).status_code == 410


def test_a_link_ends_by_time_by_another_one_by_withdrawing_and_by_leaving(network: factories.Network) -> None:
    who, staff = member(network), signed_in(network.admin)
    first = invite_member(network, who)
    second = invite_member(network, who)
    assert (Client().get(first).status_code, Client().get(second).status_code) == (410, 200)
    MemberInvitation.objects.filter(taken=None, withdrawn=None).update(expires=Now() - timedelta(seconds=1))
    assert Client().get(second).status_code == 410
    assert Client().post(second, GIVEN).status_code == 410
    third = invite_member(network, who)
    Member.objects.filter(pk=who.pk).update(email="selin.kaya@lindenhof.example")
    assert (Client().get(third).status_code, Client().post(third, GIVEN).status_code) == (410, 410), "it went to who has no part in this"
    Member.objects.filter(pk=who.pk).update(email=ADDRESS)
    Member.objects.filter(pk=who.pk).update(state="left")
    assert Client().get(third).status_code == 410
    Member.objects.filter(pk=who.pk).update(state="active")
    assert "Invite again" in text(staff.get(f"/members/{who.pk}/"))
    staff.post(f"/members/{who.pk}/invitation/withdraw/")
    assert Client().get(third).status_code == 410
    assert "No account belongs to this membership." in text(staff.get(f"/members/{who.pk}/"))
    assert Client().get("/me/join/forged/").status_code == 410
    Member.objects.filter(pk=who.pk).update(email="")
    assert "Selin Kaya has no e-mail address." in text(staff.post(f"/members/{who.pk}/invite/", follow=True))
    assert not User.objects.filter(username="selin").exists()


def test_who_is_a_moment_later_than_somebody_else_gets_no_membership(network: factories.Network) -> None:
    who = member(network)
    opened = invitation_services.get_invitation_by_token(invite_member(network, who).removeprefix("/me/join/").rstrip("/"))
    first, second = factories.user("first", staff=False), factories.user("second", staff=False)
    invitation_services.accept_member_invitation(opened, user=first)
    with pytest.raises(Conflict, match="was used"):
        invitation_services.accept_member_invitation(opened, user=second)
    MemberInvitation.objects.update(taken=None)
    with pytest.raises(Conflict, match="belongs to an account already"):
        invitation_services.accept_member_invitation(opened, user=second)
    Member.objects.filter(pk=who.pk).update(user=None, state="left")
    with pytest.raises(Conflict):
        invitation_services.accept_member_invitation(opened, user=second)
    assert not Member.objects.filter(user=second).exists()
