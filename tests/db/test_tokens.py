from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts import bounded_cache, throttle, tokens
from apps.accounts.bounded_cache import BoundedCache
from apps.accounts.cache_slots import PROCESS_SLOTS
from apps.accounts.collection_names import GROUPS
from apps.accounts.models import ApiToken, User
from apps.accounts.route_rights import API
from apps.lib.errors import Problem
from apps.members.models import Site
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text

JSON = "application/json"
FORWARDS = "/api/nat/forwards/"


def script(user: User, **limits: Any) -> Client:
    return Client(headers={"authorization": f"Bearer {tokens.create_token(user=user, name='s', **limits)[1]}"})


def forward(network: factories.Network, of: str = "m1", port: int = 8443) -> dict[str, Any]:
    resident = network.residents[of]
    return {
        "holding": resident.holding.pk,
        "public_address": str(resident.mapping.public),
        "protocol": "tcp",
        "public_port": port,
        "private_port": 443,
    }


def test_a_scope_limits_what_its_owner_may_do_and_never_widens_it(network: factories.Network) -> None:
    reads, writes = script(network.admin, scopes=["forward:read"]), script(network.admin, scopes=["forward:write"])
    assert (reads.get(FORWARDS).status_code, reads.post(FORWARDS, forward(network), JSON).status_code) == (200, 403)
    assert (writes.get(FORWARDS).status_code, writes.post(FORWARDS, forward(network), JSON).status_code) == (200, 201)
    assert writes.get("/api/members/members/").status_code == 403 and wrong(writes.get("/api/members/members/"))
    auditor = script(factories.user("auditor", roles=["auditor"]), scopes=["forward:write"])
    assert (auditor.get(FORWARDS).status_code, auditor.post(FORWARDS, forward(network), JSON).status_code) == (200, 403)
    looks = script(network.admin, scopes=["*:read"])
    assert (looks.get("/api/bans/lists/").status_code, looks.post(FORWARDS, forward(network), JSON).status_code) == (200, 403)
    nothing = script(network.admin, scopes=[])
    assert nothing.get(FORWARDS).status_code == 403


def test_rights_go_with_the_owners(network: factories.Network) -> None:
    owner = factories.user("jonas", roles=["network_admin"])
    client = script(owner)
    assert client.get(FORWARDS).status_code == 200
    User.objects.filter(pk=owner.pk).update(roles=["member"])
    assert client.get(FORWARDS).status_code == 403
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert client.get(FORWARDS).status_code == 401
    owner.delete()
    assert client.get(FORWARDS).status_code == 401


def test_a_token_of_one_member_reaches_the_things_of_that_member_alone(network: factories.Network) -> None:
    mine, other = network.residents["m1"], network.residents["m2"]
    everybody, client = script(network.admin), script(network.admin, member=mine.member.pk)
    theirs = everybody.post(FORWARDS, forward(network, "m2", 9000), JSON).json()
    made = client.post(FORWARDS, forward(network), JSON)
    assert made.status_code == 201
    assert [each["id"] for each in client.get(FORWARDS).json()["results"]] == [made.json()["id"]]
    assert client.get(f"{FORWARDS}{theirs['id']}/").status_code == 404
    assert client.get("/api/members/members/").json()["count"] == 1
    assert client.get(f"/api/members/members/{other.member.pk}/").status_code == 404
    assert client.post(FORWARDS, forward(network, "m2", 9001), JSON).status_code == 403
    assert client.post(FORWARDS, [forward(network, port=9002), forward(network, "m2", 9003)], JSON).status_code == 403
    assert client.patch(f"{FORWARDS}{made.json()['id']}/", {"holding": other.holding.pk}, JSON).status_code == 403
    assert client.patch(FORWARDS, [{"id": theirs["id"], "private_port": 1}], JSON).status_code == 400
    assert client.delete(FORWARDS, [theirs["id"]], JSON).status_code == 400
    assert client.get("/api/bans/lists/").status_code == 403, "what is nobody's is not this member's"
    assert everybody.get(FORWARDS).json()["count"] == 2


def test_a_token_is_for_its_networks_and_its_time(network: factories.Network) -> None:
    here = script(network.admin, networks=[ip_network("127.0.0.0/8")])
    there = script(network.admin, networks=[ip_network("192.0.2.0/24"), ip_network("2001:db8::/32")])
    over = script(network.admin, expires=timezone.now() - timedelta(seconds=1))
    assert [each.get(FORWARDS).status_code for each in (here, there, over)] == [200, 403, 401]
    assert there.get(FORWARDS, REMOTE_ADDR="2001:db8::7").status_code == 200


def test_use_is_noted_now_and_then_alone(network: factories.Network) -> None:
    client = script(network.admin)
    client.get(FORWARDS)
    noted = ApiToken.objects.get().last_used
    client.get(FORWARDS)
    assert noted is not None and ApiToken.objects.get().last_used == noted


def test_a_token_above_its_request_rate_gets_429_with_retry_after(network: factories.Network, settings: Any) -> None:
    settings.API_RATE = 6
    client, other = script(network.admin), script(network.admin)
    codes = [client.get(FORWARDS) for _each in range(2)]
    assert [each.status_code for each in codes] == [200, 429]
    assert wrong(codes[1]) and 0 < int(codes[1]["Retry-After"]) <= 10
    assert other.get(FORWARDS).status_code == 200, "each token has its own rate"


def test_who_tries_keys_has_to_wait(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "GUESSES", throttle.RequestRate(each_minute=1, at_once=3))
    guess = Client(headers={"authorization": "Bearer nw_wrong"})
    assert [guess.get(FORWARDS).status_code for _each in range(4)] == [401, 401, 401, 429]
    guesses = [guess.get(FORWARDS, REMOTE_ADDR=f"2001:db8:5:1::{number}").status_code for number in range(1, 5)]
    assert guesses == [401, 401, 401, 429], "from other addresses of one /64"
    assert guess.get(FORWARDS, REMOTE_ADDR="2001:db8:5:2::1").status_code == 401
    assert script(network.admin).get(FORWARDS).status_code == 200


def test_neither_many_requests_nor_many_keys_take_memory(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(bounded_cache, "SLOTS", 64)
    settings.REDIS_URL = "unix:///nobody.sock"
    cache = caches["default"]
    assert isinstance(cache, BoundedCache)
    cache.clear()
    rate = throttle.RequestRate(each_minute=60_000, at_once=10_000)
    for _each in range(5_000):
        rate.admit_request("one-key")
    (held,) = PROCESS_SLOTS.list_texts()
    size = len(held)
    for number in range(5_000):
        rate.admit_request(f"key-{number}")
    held_by_many = PROCESS_SLOTS.list_texts()
    assert len(held_by_many) <= 64 and all(len(text) < size + 40 for text in held_by_many)


def test_a_rate_lets_through_what_it_says_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(throttle, "now", lambda: clock[0])
    rate = throttle.RequestRate(each_minute=60, at_once=5)
    name = f"somebody-{timezone.now().timestamp()}"
    assert [rate.admit_request(name) == 0 for _each in range(7)] == [True] * 5 + [False] * 2
    clock[0] += 2
    assert [rate.admit_request(name) == 0 for _each in range(3)] == [True, True, False]


def test_a_person_makes_sees_and_revokes_tokens(network: factories.Network) -> None:
    page, path = signed_in(network.admin), "/account/tokens/"
    assert "No tokens yet" in text(page.get(path))
    form = {"name": "backup", "scopes": ["forward:read"], "networks": "127.0.0.1, 2001:db8::/32", "days": "30"}
    assert page.post(path, form).status_code == 422, "without the password there is none"
    made = text(page.post(path, form | {"password": "correct horse battery"}))
    key = made.partition("nw_")[2].partition("<")[0]
    token = ApiToken.objects.get()
    assert (token.scopes, token.start, len(token.networks)) == (["forward:read"], f"nw_{key[:5]}", 2)
    assert token.expires is not None and f"nw_{key}" not in text(page.get(path)) and "backup" in text(page.get(path))
    assert Client(headers={"authorization": f"Bearer nw_{key}"}).get(FORWARDS).status_code == 200
    assert signed_in(factories.user("jonas")).post(f"{path}{token.pk}/revoke/").status_code == 404
    assert "Revoke “backup”?" in text(page.get(f"{path}{token.pk}/revoke/")) and ApiToken.objects.exists(), "it asks first"
    assert "is revoked" in text(page.post(f"{path}{token.pk}/revoke/", follow=True))
    assert Client(headers={"authorization": f"Bearer nw_{key}"}).get(FORWARDS).status_code == 401
    page.post(path, form | {"scopes": ["*:read", "forward:read"], "days": "", "password": "correct horse battery"})
    assert (ApiToken.objects.get().scopes, ApiToken.objects.get().expires) == (["*:read"], None)


PASSWORD = {"name": "s", "password": "correct horse battery"}


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        (["forward:read", "forward:write", "ban:read"], ["ban:read", "forward:write"]),
        (["*:read", "forward:read", "ban:write"], ["*:read", "ban:write"]),
        (["*:write", "forward:read"], None),
    ],
)
def test_a_token_keeps_what_was_chosen_without_what_goes_without_saying(
    network: factories.Network, chosen: list[str], kept: list[str] | None
) -> None:
    signed_in(network.admin).post("/account/tokens/", PASSWORD | {"scopes": chosen})
    assert ApiToken.objects.get().scopes == kept


def test_who_may_see_all_limits_a_token_to_a_member_a_house_or_a_gateway_group_and_the_list_says_so(network: factories.Network) -> None:
    page, path, form = signed_in(network.admin), "/account/tokens/", PASSWORD | {"scopes": ["forward:read"]}
    member, house = network.residents["m1"].member, Site.objects.create(code="X", name="House X")
    for limit in ({"member": f"m-{member.number}"}, {"site": house.pk}, {"group": network.group.pk}):
        page.post(path, form | limit)
    limits = ApiToken.objects.order_by("pk").values_list("member_id", "site_id", "group_id")
    assert list(limits) == [(member.pk, None, None), (None, house.pk, None), (None, None, network.group.pk)]
    shown = text(page.get(path))
    for words in (f"only data of {member.name}, M-{member.number}", "data of members in House X", f"gateway group {network.group.name}"):
        assert words in shown
    assert "reads: Port forwards" in shown and "never used" in shown and "until" in shown


@pytest.mark.parametrize(
    ("field", "given", "says"),
    [
        ("member", {"member": "M-999999"}, "No member has this number."),
        ("member", {"member": "Selin"}, "No member has this number."),
        ("site", {"site": "4711"}, "Select a valid choice"),
        ("group", {"member": "M-{number}", "group": "{group}"}, "not for two of these"),
        ("networks", {"networks": "nonsense"}, "is not an address or prefix"),
        ("days", {"days": "0"}, "greater than or equal to 1"),
        ("scopes", {"scopes": []}, "Choose what it may do."),
        ("scopes", {"scopes": ["nothing:read"]}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_no_token_is_made(
    network: factories.Network, field: str, given: dict[str, Any], says: str
) -> None:
    known = {"number": network.residents["m1"].member.number, "group": network.group.pk}
    sent = {name: value.format(**known) if isinstance(value, str) else value for name, value in given.items()}
    answer = signed_in(network.admin).post("/account/tokens/", PASSWORD | {"scopes": ["forward:read"]} | sent)
    assert answer.status_code == 422 and not ApiToken.objects.exists()
    assert says in " ".join(answer.context["form"].errors[field])


def test_who_may_not_see_all_chooses_no_limit_and_only_what_their_roles_allow(network: factories.Network) -> None:
    path, number = "/account/tokens/", network.residents["m1"].member.number
    resident = factories.user("jonas", roles=["member"])
    page = text(signed_in(resident).get(path))
    assert 'name="member"' not in page and 'name="group"' not in page and "forward:read" not in page
    signed_in(resident).post(path, PASSWORD | {"scopes": ["*:read"], "member": f"M-{number}"})
    assert ApiToken.objects.get().member_id is None, "what the form does not have is not taken"
    assert signed_in(resident).post(path, PASSWORD | {"scopes": ["forward:read"]}).status_code == 422
    helps = text(signed_in(factories.user("theo", roles=["helpdesk"])).get(path))
    assert 'name="member"' in helps and 'name="group"' not in helps
    assert 'value="forward:read"' in helps and 'value="forward:write"' not in helps and 'value="gateway:write"' in helps


def test_a_name_that_the_owner_may_not_see_any_more_is_not_in_the_list(network: factories.Network) -> None:
    owner, member = factories.user("theo", roles=["helpdesk"]), network.residents["m1"].member
    tokens.create_token(user=owner, name="s", member=member.pk)
    assert member.name in text(signed_in(owner).get("/account/tokens/"))
    User.objects.filter(pk=owner.pk).update(roles=["member"])
    shown = text(signed_in(User.objects.get(pk=owner.pk)).get("/account/tokens/"))
    assert member.name not in shown and f"the id {member.pk}" in shown


def test_every_collection_has_its_words_and_its_group() -> None:
    assert sorted(name for _words, found in GROUPS for name in found) == sorted(API)


def test_the_command_makes_limited_tokens(network: factories.Network, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("token", "mara", "--scope", "forward:read", "--network", "192.0.2.0/24", "--member", "900007", "--days", "3")
    token = ApiToken.objects.get()
    assert (token.scopes, token.member_id, token.networks) == (["forward:read"], 900007, [ip_network("192.0.2.0/24")])
    assert capsys.readouterr().out.startswith(token.start)
    call_command("token", "mara", "--name", "house", "--site", "900003")
    page = text(signed_in(network.admin).get("/account/tokens/"))
    assert "only for the member with the id 900007" in page and "only for the house with the id 900003" in page
    with pytest.raises(CommandError, match="one member, one gateway group or one house"):
        call_command("token", "mara", "--site", "3", "--group", "1")
    with pytest.raises(CommandError, match="Unknown scope"):
        call_command("token", "mara", "--scope", "nothing:read")


@pytest.mark.parametrize("days", ["0", "-1", "36501", "soon"])
def test_the_command_refuses_an_end_that_is_not_in_the_future(network: factories.Network, days: str) -> None:
    with pytest.raises(CommandError, match=f"--days: “{days}” is no number of days from 1 to 36500"):
        call_command("token", "mara", f"--days={days}")
    assert not ApiToken.objects.exists()


def test_a_person_has_a_bounded_number_of_tokens(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS_PER_ACCOUNT", 1)
    script(network.admin)
    with pytest.raises(Problem, match="already"):
        script(network.admin)
