"""Submissions that wait until their sender has confirmed who that is, and are then resumed: passwords, queries, mistakes."""

from typing import Any

import pytest
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client

from apps.accounts.models import ApiToken, Invitation, User
from apps.deployments.models import HeldBack, Hold, Revision
from apps.deployments.services import reconcile
from apps.gateways.joining.models import JoiningMachine
from apps.nat.models import PortForward
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward
from tests.db.test_signing_in import PASSWORD, code

TOKENS = "/account/tokens/"
TOKEN = {"name": "backup script", "scopes": ["forward:read"]}


class AppOwner:
    """A person with a code app, signed in too long ago for pages that need recent authentication."""

    def __init__(self, user: User) -> None:
        self.client, self._secret = signed_in(user, seconds_ago=400), generate_totp_secret()
        TOTP.activate(user, self._secret)

    def send(self, path: str, given: dict[str, Any]) -> Any:
        """Submit a form, give the code that the portal then asks for, and return the answer."""
        return self.enter_code(self.client.post(path, given))

    def enter_code(self, asked: Any) -> Any:
        assert asked["Location"].startswith("/account/second-factor/reauthenticate/"), asked
        return self.client.post(asked["Location"], {"code": code(self._secret)})


def send_and_give_password(client: Client, path: str, given: dict[str, Any]) -> Any:
    """The same for somebody without a second factor, who gives the password."""
    asked = client.post(path, given)
    assert asked["Location"].startswith("/account/reauthenticate/"), asked
    return client.post(asked["Location"], {"password": PASSWORD})


@pytest.fixture
def mara(db: None) -> User:
    return factories.user()


@pytest.fixture
def before(served_network: factories.Network) -> Revision:
    """The revision before five forwards were opened. Going back to it takes away more than one person may."""
    served_network.group.removal_least = 3
    served_network.group.save()
    assert reconcile(served_network.group)
    revision = Revision.objects.latest("pk")
    for port in range(7001, 7006):
        forward(served_network, port)
    assert reconcile(served_network.group)
    return revision


@pytest.fixture
def waiting_removal(before: Revision, served_network: factories.Network) -> HeldBack:
    """The removal of these forwards, which waits. Its author is the only approver."""
    with factories.written_by(served_network.admin):
        PortForward.objects.all().delete()
    reconcile(served_network.group)
    return HeldBack.objects.get()


# --- Passwords of forms


def test_a_token_is_made_in_one_go_if_its_form_had_the_right_password(mara: User) -> None:
    owner = AppOwner(mara)
    asked = owner.client.post(TOKENS, TOKEN | {"password": PASSWORD})
    assert PASSWORD not in str(dict(owner.client.session)) and not ApiToken.objects.exists()
    assert "Your new token" in text(owner.enter_code(asked))
    assert ApiToken.objects.get().name == "backup script"


@pytest.mark.parametrize("password", ["", "guess"])
def test_a_code_does_not_stand_in_for_the_password_but_what_was_typed_stays(mara: User, password: str) -> None:
    owner = AppOwner(mara)
    shown = owner.send(TOKENS, TOKEN | {"password": password})
    assert shown.status_code == 422 and not ApiToken.objects.exists()
    page = text(shown)
    assert 'id="id_password_error"' in page and f'action="{TOKENS}"' in page and 'value="backup script"' in page
    assert "Your new token" in text(owner.client.post(TOKENS, TOKEN | {"password": PASSWORD}))


def test_a_password_that_was_right_too_long_ago_is_demanded_again(mara: User) -> None:
    owner = AppOwner(mara)
    asked = owner.client.post(TOKENS, TOKEN | {"password": PASSWORD})
    session = owner.client.session
    session[STATE_SESSION_KEY]["state"]["password_confirmed"] -= 400
    session.save()
    assert owner.enter_code(asked).status_code == 422 and not ApiToken.objects.exists()


def test_who_confirms_by_password_does_not_type_it_into_the_form_too(mara: User) -> None:
    assert "Your new token" in text(send_and_give_password(signed_in(mara, seconds_ago=400), TOKENS, TOKEN))


def test_the_page_for_the_password_leads_the_owner_of_an_app_on_to_the_code_and_what_was_sent_waits(mara: User) -> None:
    owner = AppOwner(mara)
    owner.client.post(TOKENS, TOKEN | {"password": PASSWORD})
    asked = owner.client.post(f"/account/reauthenticate/?next={TOKENS}", {"password": PASSWORD})
    assert not ApiToken.objects.exists()
    assert "Your new token" in text(owner.enter_code(asked))


def test_nothing_that_a_browser_sends_stands_in_for_the_password(mara: User) -> None:
    claims = {"has_confirmed_password": "True", "password_confirmed": "9999999999"}
    answer = signed_in(mara).post(TOKENS, TOKEN | claims, headers={"has-confirmed-password": "True"})
    assert answer.status_code == 422 and not ApiToken.objects.exists()


def test_a_resumed_form_with_another_mistake_still_has_its_password_field(mara: User) -> None:
    owner = AppOwner(mara)
    shown = text(owner.send(TOKENS, {"name": "backup script", "password": PASSWORD}))
    assert 'id="id_scopes_error"' in shown and 'id="id_password_error"' not in shown and 'id="id_password"' in shown
    assert owner.client.post(TOKENS, TOKEN).status_code == 422
    assert not ApiToken.objects.exists()


def test_an_emergency_goes_back_after_one_code(before: Revision, served_network: factories.Network) -> None:
    factories.user("jonas")
    given = {"why": "nothing works", "alone": "on", "password": PASSWORD}
    AppOwner(served_network.admin).send(f"/rollouts/revisions/{before.pk}/back/", given)
    assert Hold.objects.get().alone


def test_nobody_goes_back_alone_without_the_password(before: Revision, served_network: factories.Network) -> None:
    owner, path = AppOwner(served_network.admin), f"/rollouts/revisions/{before.pk}/back/"
    shown = owner.send(path, {"why": "nothing works", "alone": "on"})
    assert shown.status_code == 422 and f'action="{path}"' in text(shown)
    assert not Hold.objects.exists()


def test_a_password_that_was_left_out_is_no_attempt(before: Revision, served_network: factories.Network) -> None:
    client, path = signed_in(served_network.admin), f"/rollouts/revisions/{before.pk}/back/"
    for _ in range(5):
        assert "This field is required." in text(client.post(path, {"why": "nothing works", "alone": "on"}))
    assert client.post(path, {"why": "nothing works", "alone": "on", "password": PASSWORD}).status_code == 302


def test_a_single_approver_approves_after_one_code(waiting_removal: HeldBack, served_network: factories.Network) -> None:
    given = {"digest": waiting_removal.digest, "typed": "5", "password": PASSWORD}
    AppOwner(served_network.admin).send(f"/rollouts/waiting/{waiting_removal.pk}/approve/", given)
    assert HeldBack.objects.get().state == HeldBack.State.APPROVED


def test_a_network_administrator_is_invited_only_after_the_second_factor(mara: User) -> None:
    owner, given = AppOwner(mara), {"email": "ines@lindenhof.example", "roles": ["network_admin"], "password": PASSWORD}
    asked = owner.client.post("/account/invitations/", given)
    assert not Invitation.objects.exists()
    assert owner.enter_code(asked)["Location"] == "/account/invitations/"
    assert Invitation.objects.get().roles == ["network_admin"]


# --- Addresses with a query, and answers with errors


def test_a_page_with_a_query_is_resumed_with_it(network: factories.Network) -> None:
    given = {"name": "nat-3", "group": network.group.pk, "address": "172.31.0.13", "port": 22}
    answer = send_and_give_password(signed_in(network.admin, seconds_ago=400), f"/gateways/join/?group={network.group.pk}", given)
    assert answer["Location"] == f"/gateways/joining/{JoiningMachine.objects.get().pk}/"
    assert answer.wsgi_request.GET.dict() == {"group": str(network.group.pk)}


@pytest.mark.parametrize(
    "path",
    [
        TOKENS,
        "/account/invitations/",
        "/account/people/{other}/roles/",
        "/gateways/groups/{group}/",
        "/gateways/join/?group={group}",
        "/gateways/add/?group={group}",
        "/gateways/joining/{machine}/move/",
        "/gateways/{gateway}/replace/",
    ],
)
def test_a_resumed_form_with_a_mistake_is_sent_to_its_own_page_next(network: factories.Network, path: str) -> None:
    machine = JoiningMachine.objects.create(name="nat-3", group=network.group, address="172.31.0.13", port=22)
    numbers = {"other": factories.user("jonas").pk, "group": network.group.pk, "machine": machine.pk, "gateway": network.gateways[0].pk}
    where = path.format(**numbers)
    shown = send_and_give_password(signed_in(network.admin, seconds_ago=400), where, {})
    assert shown.status_code == 422 and f'<form method="post" action="{where}"' in text(shown)


def test_a_refusal_without_a_reason_is_sent_to_its_own_page_next(waiting_removal: HeldBack) -> None:
    path = f"/rollouts/waiting/{waiting_removal.pk}/refuse/"
    shown = send_and_give_password(signed_in(factories.user("jonas"), seconds_ago=400), path, {"digest": waiting_removal.digest})
    assert shown.status_code == 422 and f'<form method="post" action="{path}"' in text(shown)


def test_a_wrong_first_code_of_a_new_app_is_corrected_on_its_own_page(mara: User) -> None:
    path = "/account/second-factor/totp/activate/"
    shown = send_and_give_password(signed_in(mara, seconds_ago=400), path, {"code": "000000"})
    assert f'<form method="post" action="{path}"' in text(shown)


# --- What was left alone


@pytest.mark.parametrize(("following", "leads_to"), [("?next=/account/email/", "/account/email/"), ("", "/")])
def test_confirming_for_something_else_does_not_send_what_was_left_alone(mara: User, following: str, leads_to: str) -> None:
    client = signed_in(mara, seconds_ago=400)
    client.post(TOKENS, TOKEN)
    assert client.post(f"/account/reauthenticate/{following}", {"password": PASSWORD})["Location"] == leads_to
    assert not ApiToken.objects.exists() and STATE_SESSION_KEY not in client.session
