"""Recent authentication, which decisions about others need; the end of staff sessions; and the revocation of all tokens of an account."""

import re
import time
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import LazySettings
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from structlog.testing import capture_logs

from apps.accounts import permission_matrix
from apps.accounts.models import ApiToken, User
from apps.accounts.roles import Right
from apps.accounts.route_rights import RECENT_AUTH, RECENT_AUTH_ACTIONS
from apps.accounts.tokens import EVERY, READ, create_token
from apps.audit.undo import find_last_event
from apps.deployments.approvals.kinds import ROLLBACK
from apps.deployments.models import HeldBack, Hold, Revision, Rollout
from apps.deployments.services import reconcile
from apps.gateways.groups import GroupFacts, change_group
from apps.gateways.replacement import replace_machine
from apps.nat.models import PortForward
from apps.nat.own_forwards import switch_forward
from apps.nat.services import change_forward
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.db.page_client import confirm, signed_in, text
from tests.db.rollout_rows import forward

JSON = "application/json"
PASSWORD = "correct horse battery"
TOKEN = {"name": "door display", "scopes": [f"{EVERY}:{READ}"]}
OLD_KEY, MACHINE_KEY = (f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{letter * 43}" for letter in "AB")


@pytest.fixture
def held_change(transactional_db: None, served_network: factories.Network) -> HeldBack:
    served_network.group.removal_least = 3
    served_network.group.save()
    assert reconcile(served_network.group)
    for port in range(7001, 7006):
        forward(served_network, port)
    assert reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        PortForward.objects.all().delete()
    reconcile(served_network.group)
    return HeldBack.objects.get()


def decide(client: Client, held: HeldBack, action: str) -> Any:
    given = {"digest": held.digest} | ({"reason": "no"} if action == "refuse" else {})
    return client.post(f"/api/deployments/approvals/{held.pk}/{action}/", given, JSON)


def with_factor(user: User) -> Client:
    client = signed_in(user)
    confirm(client, user, "mfa")
    return client


@pytest.mark.parametrize("action", ["approve", "refuse"])
def test_no_token_decides_and_a_session_only_with_a_fresh_second_factor(held_change: HeldBack, settings: LazySettings, action: str) -> None:
    peer = factories.user("jonas")
    _token, key = create_token(user=peer, name="script")
    refused = decide(Client(headers={"Authorization": f"Bearer {key}"}), held_change, action)
    assert refused.status_code == 403 and "not a token" in refused.json()["detail"]
    settings.REQUIRE_SECOND_FACTOR = True
    TOTP.activate(peer, generate_totp_secret())
    for client in (signed_in(peer), signed_in(peer, seconds_ago=400)):
        assert decide(client, held_change, action).status_code == 403
    assert HeldBack.objects.get().state == HeldBack.State.WAITING
    assert decide(with_factor(peer), held_change, action).status_code == 200


def test_an_open_session_with_the_password_finds_no_code_that_decides(held_change: HeldBack) -> None:
    TOTP.activate(peer := factories.user("jonas"), generate_totp_secret())
    RecoveryCodes.activate(peer)
    client = signed_in(peer, seconds_ago=400)
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    for code in re.findall(r"<code>(\d+)</code>", text(client.get("/account/second-factor/recovery-codes/", follow=True))):
        client.post("/account/second-factor/reauthenticate/", {"code": code})
    assert decide(client, held_change, "approve").status_code == 403
    assert HeldBack.objects.get().state == HeldBack.State.WAITING


def path_of(route: permission_matrix.PermissionRow, pk: int) -> str:
    """Return the route's path with this number in place of its parameters."""
    return "/" + re.sub(r"<[^>]*>|\(\?P<\w+>[^)]*\)", str(pk), route.path).replace("^", "").replace("$", "")


def test_every_route_by_which_somebody_approves_refuses_tokens(held_change: HeldBack) -> None:
    _token, key = create_token(user=factories.user("jonas"), name="script")
    script, given = Client(headers={"Authorization": f"Bearer {key}"}), {"digest": held_change.digest, "reason": "no", "typed": "5"}
    approving = [route for route in permission_matrix.list_routes() if route.change is Right.APPROVE]
    assert {route.name for route in approving} >= {"deployments:approve", "accounts:roles-agree", "api:approval-approve"}
    for route in approving:
        answer = script.post(path_of(route, held_change.pk), given, JSON if route.method else MULTIPART_CONTENT)
        if route.method:
            assert answer.status_code == 403 and "not a token" in answer.json()["detail"], route
        else:
            assert answer.status_code == 302 and answer["Location"].startswith("/account/login/"), route
    assert HeldBack.objects.get().state == HeldBack.State.WAITING


def test_no_action_on_rollouts_lets_through_what_waits_when_a_token_asks(held_change: HeldBack, served_network: factories.Network) -> None:
    _token, key = create_token(user=factories.user("jonas"), name="script")
    script, before = Client(headers={"Authorization": f"Bearer {key}"}), Revision.objects.earliest("pk")
    ids = {"approval": held_change.pk, "revision": before.pk, "rollout": Rollout.objects.latest("pk").pk, "hold": 1}
    acting = [route for route in permission_matrix.list_routes() if route.method == "POST" and route.basename in ids]
    assert {route.action for route in acting} >= {"approve", "refuse", "resume", "rollback", "release", "deploy"}
    for route in acting:
        for given in ({"why": "now", "alone": True}, {"why": "now"}, {"digest": held_change.digest, "reason": "no"}, {"again": True}, {}):
            answer = script.post(path_of(route, ids[route.basename]), given, JSON)
            assert answer.status_code < 500, (route, given)
    reconcile(served_network.group)
    assert not Hold.objects.exists()
    assert {each.state for each in HeldBack.objects.all()} == {HeldBack.State.WAITING}
    assert HeldBack.objects.filter(kind=ROLLBACK).exists(), "going back waits too"


def test_a_password_that_was_just_given_is_enough_where_no_second_factor_is_needed(held_change: HeldBack) -> None:
    peer = factories.user("jonas")
    assert decide(signed_in(peer, seconds_ago=400), held_change, "approve").status_code == 403
    assert decide(signed_in(peer), held_change, "approve").status_code == 200


def test_the_page_asks_who_you_are_and_then_goes_on_with_what_was_sent(held_change: HeldBack) -> None:
    client = signed_in(factories.user("jonas"), seconds_ago=400)
    asked = client.post(f"/rollouts/waiting/{held_change.pk}/approve/", {"digest": held_change.digest, "typed": "5"})
    assert asked.status_code == 302 and asked["Location"].startswith("/account/reauthenticate/")
    assert HeldBack.objects.get().state == HeldBack.State.WAITING
    client.post(asked["Location"], {"password": PASSWORD})
    assert HeldBack.objects.get().state == HeldBack.State.APPROVED


def test_rights_that_were_lost_meanwhile_are_looked_at_again(held_change: HeldBack) -> None:
    peer = factories.user("jonas")
    client = signed_in(peer, seconds_ago=400)
    asked = client.post(f"/rollouts/waiting/{held_change.pk}/approve/", {"digest": held_change.digest, "typed": "5"})
    User.objects.filter(pk=peer.pk).update(roles=["network_admin"])
    assert client.post(asked["Location"], {"password": PASSWORD}).status_code == 403
    assert HeldBack.objects.get().state == HeldBack.State.WAITING


def test_no_password_waits_in_the_session(held_change: HeldBack) -> None:
    client = signed_in(factories.user("jonas"), seconds_ago=400)
    client.post(f"/rollouts/waiting/{held_change.pk}/approve/", {"digest": held_change.digest, "typed": "5", "password": PASSWORD})
    assert "correct" not in str(dict(client.session))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "/account/people/{other}/roles/",
        "/account/tokens/",
        "/account/invitations/",
        "/gateways/groups/{group}/",
        "/account/people/changes/1/agree/",
        "/rollouts/revisions/1/back/",
    ],
)
def test_roles_tokens_and_limits_ask_who_you_are(path: str) -> None:
    admin, other, group = factories.user("mara"), factories.user("jonas"), GatewayGroup.objects.create(name="Lindenhof")
    where = path.format(other=other.pk, group=group.pk)
    assert signed_in(admin, seconds_ago=400).post(where, {})["Location"].startswith("/account/reauthenticate/")
    assert signed_in(admin).post(where, {}).status_code in (404, 422)


# --- Who has no second factor, where staff need one


@pytest.mark.django_db
@pytest.mark.parametrize("typed", ["", PASSWORD])
def test_a_member_without_a_second_factor_makes_a_token_after_the_password(settings: LazySettings, typed: str) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    client = signed_in(factories.user("selin", staff=False), seconds_ago=400)
    asked = client.post("/account/tokens/", TOKEN | {"password": typed})
    assert asked["Location"].startswith("/account/reauthenticate/") and not ApiToken.objects.exists()
    assert "Your new token" in text(client.post(asked["Location"], {"password": PASSWORD}))
    assert ApiToken.objects.get().name == "door display"


@pytest.mark.django_db
def test_a_member_who_joins_the_staff_while_a_submission_waits_is_led_to_set_up_a_second_factor(settings: LazySettings) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    client = signed_in(selin := factories.user("selin", staff=False), seconds_ago=400)
    asked = client.post("/account/tokens/", TOKEN)
    User.objects.filter(pk=selin.pk).update(roles=["helpdesk"])
    answer = client.post(asked["Location"], {"password": PASSWORD}, follow=True)
    assert "Set up a second factor first" in text(answer) and not ApiToken.objects.exists()


# --- The same through the API


def call(client: Client, route: permission_matrix.PermissionRow) -> Any:
    """Send an empty request of this route, for objects that do not exist."""
    return client.generic(route.method, path_of(route, 999_999), "{}", JSON)


def list_guarded_routes() -> list[permission_matrix.PermissionRow]:
    return [route for route in permission_matrix.list_routes() if route.method and (route.basename, route.action) in RECENT_AUTH_ACTIONS]


def test_every_page_that_asks_who_you_are_is_in_the_table_with_its_actions_of_the_api() -> None:
    asking = {name for name, _path, pattern in permission_matrix.list_url_patterns() if hasattr(pattern.callback, "needs_recent_auth")}
    assert asking == set(RECENT_AUTH)
    assert {(route.basename, route.action) for route in list_guarded_routes()} == RECENT_AUTH_ACTIONS


@pytest.mark.django_db
def test_a_session_that_has_not_confirmed_does_by_the_api_nothing_for_which_a_page_asks_who_you_are() -> None:
    admin = factories.user("mara")
    stale, fresh = signed_in(admin, seconds_ago=400), signed_in(admin)
    _token, key = create_token(user=admin, name="script")
    script = Client(headers={"Authorization": f"Bearer {key}"})
    for route in list_guarded_routes():
        refused = call(stale, route)
        assert refused.status_code == 403 and "Confirm who you are first" in refused.json()["detail"], route
        assert call(fresh, route).status_code in (400, 404), route
        if route.basename != "approval":
            assert call(script, route).status_code in (400, 404), route


@pytest.mark.django_db
def test_a_machine_is_not_replaced_by_a_session_whose_second_factor_is_old(network: factories.Network) -> None:
    gateway = network.gateways[0]
    Gateway.objects.filter(pk=gateway.pk).update(link=Gateway.Link.SSH, address="172.31.0.9", host_key=OLD_KEY)
    path, given = f"/api/gateways/gateways/{gateway.pk}/replace/", {"host_key": MACHINE_KEY, "address": "192.0.2.99"}
    client = signed_in(network.admin, seconds_ago=400)
    confirm(client, network.admin, "mfa", 400)
    assert client.post(path, given, JSON).status_code == 403
    gateway.refresh_from_db()
    assert str(gateway.address) != "192.0.2.99"
    confirm(client, network.admin, "mfa")
    assert client.post(path, given, JSON).status_code == 200


@pytest.mark.django_db
def test_an_undo_that_trusts_the_former_machine_asks_who_you_are_and_is_then_done(network: factories.Network) -> None:
    gateway = network.gateways[0]
    Gateway.objects.filter(pk=gateway.pk).update(link=Gateway.Link.SSH, address="172.31.0.9", host_key=OLD_KEY)
    gateway.refresh_from_db()
    replace_machine(gateway=gateway, version=gateway.version, host_key=MACHINE_KEY)
    client, path = signed_in(network.admin, seconds_ago=400), f"/gateways/undo/{find_last_event(Gateway, gateway.pk)}/"
    asked = client.post(path)
    assert asked["Location"].startswith("/account/reauthenticate/") and Gateway.objects.get(pk=gateway.pk).host_key == MACHINE_KEY
    assert "Undone: nat-1." in text(client.post(asked["Location"], {"password": PASSWORD}, follow=True))
    assert Gateway.objects.get(pk=gateway.pk).host_key == OLD_KEY


@pytest.mark.django_db
def test_an_undo_of_a_groups_settings_asks_who_you_are_and_is_then_done(network: factories.Network) -> None:
    group = network.group
    change_group(group=group, version=group.version, facts=GroupFacts("Linden"), by=network.admin)
    client, path = signed_in(network.admin, seconds_ago=400), f"/gateways/groups/undo/{find_last_event(GatewayGroup, group.pk)}/"
    asked = client.post(path)
    assert asked["Location"].startswith("/account/reauthenticate/") and GatewayGroup.objects.get().name == "Linden"
    assert "Undone: Linden." in text(client.post(asked["Location"], {"password": PASSWORD}, follow=True))
    assert GatewayGroup.objects.get().name == "Lindenhof"


# --- Length of staff sessions


def went_by(client: Client, key: str, seconds: float) -> None:
    session = client.session
    session[key] = time.time() - seconds
    session.save()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "seconds", "stays"), [("active", 11 * 3600, True), ("active", 13 * 3600, False), ("began", 8 * 86400, False)]
)
def test_staff_are_signed_out_after_a_while(key: str, seconds: float, stays: bool) -> None:
    client = signed_in(factories.user())
    assert client.get("/account/").status_code == 200
    went_by(client, key, seconds)
    assert (client.get("/account/").status_code == 200) == stays


@pytest.mark.django_db
def test_a_page_that_asks_again_by_itself_keeps_nobody_signed_in() -> None:
    client = signed_in(factories.user())
    client.get("/account/")
    went_by(client, "active", 600)
    before = client.session["active"]
    client.get("/account/", headers={"HX-Request": "true"})
    assert client.session["active"] == before
    client.get("/account/")
    assert client.session["active"] > before


@pytest.mark.django_db
def test_members_stay_signed_in() -> None:
    client = signed_in(factories.user("guest", staff=False))
    client.get("/account/")
    went_by(client, "began", 8 * 86400)
    assert client.get("/account/").status_code == 200


# --- Tokens


@pytest.mark.django_db
def test_an_administrator_revokes_all_tokens_of_somebody() -> None:
    admin, other = factories.user("mara"), factories.user("jonas")
    create_token(user=other, name="one"), create_token(user=other, name="two"), create_token(user=admin, name="mine")
    client, address = signed_in(admin), f"/account/people/{other.pk}/revoke-tokens/"
    asked = text(client.get(address))
    assert f"Revoke all 2 tokens of {other.name}?" in asked and "one" in asked and "two" in asked
    assert ApiToken.objects.count() == 3
    assert "2 tokens are revoked." in text(client.post(address, follow=True))
    assert [token.name for token in ApiToken.objects.all()] == ["mine"]


@pytest.mark.django_db
def test_ones_own_tokens_are_all_revoked_only_after_a_question_and_each_is_logged() -> None:
    user = factories.user("mara")
    create_token(user=user, name="backup script"), create_token(user=user, name="door display")
    client = signed_in(user)
    asked = text(client.get("/account/tokens/revoke-all/"))
    assert "Revoke all your 2 tokens?" in asked and "backup script" in asked and "door display" in asked
    assert user.tokens.count() == 2
    with capture_logs() as logs:
        client.post("/account/tokens/revoke-all/")
    assert user.tokens.count() == 0
    assert len([each for each in logs if each.get("security") == "token revoked"]) == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("given", "left"), [({}, 1), ({"tokens": "1"}, 0)])
def test_signing_out_everywhere_revokes_tokens_if_that_is_asked_for(given: dict[str, str], left: int) -> None:
    admin, other = factories.user("mara"), factories.user("jonas")
    create_token(user=other, name="one"), create_token(user=admin, name="mine")
    signed_in(admin).post(f"/account/people/{other.pk}/sign-out/", given)
    signed_in(admin).post("/account/sessions/end-others/", given)
    assert (other.tokens.count(), admin.tokens.count()) == (left, left)


@pytest.mark.django_db
@pytest.mark.parametrize(("given", "left"), [({}, 1), ({"revoke_tokens": "on"}, 0)])
def test_another_password_revokes_tokens_if_that_is_asked_for(given: dict[str, str], left: int) -> None:
    admin = factories.user("mara")
    create_token(user=admin, name="one")
    client = signed_in(admin)
    assert "Revoke my tokens" in text(client.get("/account/password/change/"))
    sent = {"oldpassword": PASSWORD, "password1": "another long one", "password2": "another long one"}
    client.post("/account/password/change/", sent | given)
    admin.refresh_from_db()
    assert admin.check_password("another long one") and admin.tokens.count() == left


# --- Forwards that administrators switched off


def test_a_member_does_not_switch_on_what_the_administrators_switched_off(
    transactional_db: None, served_network: factories.Network
) -> None:
    member, made = served_network.residents["m1"].member, forward(served_network, 7001)
    guest = factories.user("guest", staff=False)
    member.user = guest
    member.save()

    def off(by: User) -> PortForward:
        row = PortForward.objects.get(pk=made.pk)
        with factories.written_by(by):
            return change_forward(forward=row, version=row.version, private_port=443, purpose="", enabled=False, by=by)

    client, path = signed_in(guest), f"/me/ports/{made.pk}/switch/"
    row = off(guest)
    assert client.post(path, {"version": row.version, "enabled": "1"}).status_code == 302, "one's own"
    row = off(served_network.admin)
    assert "The administrators switched it off." in text(client.get("/me/"))
    refused = client.post(path, {"version": row.version, "enabled": "1"})
    assert refused.status_code == 422 and "The administrators switched this off" in text(refused)
    assert not PortForward.objects.get(pk=made.pk).enabled
    row = switch_forward(forward=row, version=row.version, enabled=True, by=served_network.admin)
    assert row.enabled
