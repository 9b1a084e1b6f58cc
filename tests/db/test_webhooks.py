"""Webhooks: each change is queued once for each endpoint whose owner may see it and for no other, and delivered at least once."""

import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings
from django.conf import settings as configured
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.bans.blocks import services as blocking
from apps.desk.lifecycle.erasing import erase_member
from apps.lib.errors import Problem
from apps.mail.models import Message
from apps.members.models import Device, Member
from apps.nat.models import PortForward
from apps.nat.pinholes.services import add_pinhole, remove_pinhole
from apps.nat.rules.models import PortRules
from apps.nat.services import add_forward
from apps.network.models import Gateway, GatewayGroup, Pool
from apps.webhooks import delivery_gathering, delivery_sender, services
from apps.webhooks.event_kinds import list_fields, list_reportable_collections
from apps.webhooks.models import Delivery, Endpoint, Position
from apps.webhooks.retention import prune_deliveries
from apps.webhooks.services import EndpointFacts
from apps.webhooks.signing import compute_signature, derive_secret
from apps.webhooks.subscribable_kinds import list_kinds
from tests import factories
from tests.db.page_client import signed_in, text
from tests.webhook_receiver import Receiver, receiving


@pytest.fixture(autouse=True)
def _loopback(settings: LazySettings) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def hook(by: User, url: str = "https://hooks.example.org/", **changes: Any) -> Endpoint:
    return services.add_webhook(facts=EndpointFacts(**({"name": "Door", "url": url} | changes)), by=by)[0]


def list_queued_bodies() -> list[dict[str, Any]]:
    """Gather all events and return the bodies of the queued deliveries, the oldest first."""
    while delivery_gathering.gather_deliveries():
        continue
    return [json.loads(body) for body in Delivery.objects.order_by("id").values_list("body", flat=True)]


def forward(network: factories.Network, port: int = 8443) -> PortForward:
    one = network.residents["m1"]
    public = one.mapping.public
    return add_forward(holding=one.holding, public=public, protocol="tcp", public_port=port, private_port=443, by=network.admin)


# --- Events


def test_a_change_is_told_once_with_values_before_and_after_as_the_api_shows_them(network: factories.Network) -> None:
    endpoint = hook(network.admin, kinds=["forward"])
    made = forward(network)
    PortForward.objects.filter(pk=made.pk).update(private_port=8080)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE nat_portforward SET private_port = 9090 WHERE id = %s", [made.pk])
    found = list_queued_bodies()
    assert [each["event"] for each in found] == ["forward.created", "forward.changed", "forward.changed"]
    assert [(each["before"] or {}).get("private_port") for each in found] == [None, 443, 8080]
    assert [each["after"]["private_port"] for each in found] == [443, 8080, 9090]
    assert found[0]["object"] == {"kind": "forward", "id": made.pk, "url": f"http://127.0.0.1:8000/api/nat/forwards/{made.pk}/"}
    assert list_queued_bodies() == found and endpoint.deliveries.count() == 3


def test_bulk_updates_and_removals_are_told_and_what_ends_is_removed(network: factories.Network) -> None:
    hook(network.admin, kinds=["device", "forward"], events=["removed"])
    made = forward(network)
    made.delete()
    Device.objects.update(name="Phone")
    gone = Device.objects.count()
    Device.objects.all().delete()
    found = list_queued_bodies()
    assert [each["event"] for each in found].count("device.removed") == gone
    assert {each["event"] for each in found} == {"device.removed", "forward.removed"}
    assert all(each["after"] is None and each["before"]["name"] == "Phone" for each in found if each["event"].startswith("device"))


def test_what_is_ended_before_its_time_is_removed_and_another_end_is_a_change(network: factories.Network) -> None:
    hook(network.admin, kinds=["block"])
    soon, late = (timezone.now() + timedelta(days=days) for days in (1, 7))
    made = blocking.block_member(member=network.residents["m1"].member, reason="unpaid", until=late, by=network.admin)
    made = blocking.change_block(block=made, version=1, reason="unpaid", message="", note="", until=soon, by=network.admin)
    blocking.lift_block(block=made, by=network.admin)
    found = list_queued_bodies()
    assert [each["event"] for each in found] == ["block.created", "block.changed", "block.removed"]
    ends = [(each["before"] and each["before"]["until"], each["after"] and each["after"]["until"]) for each in found]
    late_, soon_ = (timezone.localtime(at).isoformat() for at in (late, soon))
    assert ends == [(None, late_), (late_, soon_), (soon_, None)]


def test_a_pinhole_that_is_closed_before_its_end_is_removed(network: factories.Network) -> None:
    hook(network.admin, kinds=["pinhole"])
    of, until = network.residents["m1"].prefix, timezone.now() + timedelta(days=7)
    made = add_pinhole(holding=of, address=of.prefix[9], protocol="tcp", port=22, purpose="", until=until, by=network.admin)
    remove_pinhole(pinhole=made, by=network.admin)
    created, removed = list_queued_bodies()
    assert (created["event"], removed["event"]) == ("pinhole.created", "pinhole.removed")
    assert created["after"]["until"] == removed["before"]["until"] == timezone.localtime(until).isoformat()


def test_what_one_look_does_not_take_is_told_by_the_next_ones(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    hook(network.admin, kinds=["device"])
    monkeypatch.setattr(delivery_gathering, "MAX_EVENTS_PER_RUN", 2)
    device = Device.objects.earliest("pk")
    for name in "abcde":
        Device.objects.filter(pk=device.pk).update(name=name)
    assert [each["after"]["name"] for each in list_queued_bodies()] == list("abcde")


def test_actor_and_reason_of_a_script_are_told(network: factories.Network, client: Any) -> None:
    hook(network.admin, kinds=["device"])
    _token, key = tokens.create_token(user=network.admin, name="s")
    given = {"authorization": f"Bearer {key}", "x-change-reason": "ticket 4711"}
    device = Device.objects.get(name="Laptop of m1")
    client.patch(f"/api/members/devices/{device.pk}/", {"name": "Phone"}, content_type="application/json", headers=given)
    [found] = list_queued_bodies()
    assert (found["by"], found["reason"]) == ({"id": network.admin.pk, "username": "mara"}, "ticket 4711")
    assert (found["before"]["name"], found["after"]["name"]) == ("Laptop of m1", "Phone")


def test_nothing_is_told_of_what_was_rolled_back_or_came_before(network: factories.Network) -> None:
    forward(network)
    hook(network.admin, kinds=["forward"])
    with transaction.atomic():
        forward(network, 9000)
        transaction.set_rollback(True)
    assert list_queued_bodies() == []


def test_every_kind_has_its_history_and_none_of_it_is_a_secret(network: factories.Network) -> None:
    drawn = delivery_gathering.DRAWN.replace("AND last_value IS NOT NULL", "")
    with connection.cursor() as cursor:
        cursor.execute(drawn, [[f"{table}_pgh_id_seq" for table in delivery_gathering._list_tables()]])
        assert len(cursor.fetchall()) == len(list_reportable_collections())
    assert {"forward", "member", "ban", "ticket", "gateway", "person"} <= list_reportable_collections().keys()
    assert "token" not in list_reportable_collections()
    shown = {name for kind in list_reportable_collections().values() for name, _field, _column in list_fields(kind)}
    shown.discard("host_key")  # the public half
    assert not [name for name in shown if any(word in name for word in ("password", "secret", "sha256", "salt", "key"))]


def test_settings_of_a_group_are_told_with_the_address_that_the_api_has_them_at(network: factories.Network) -> None:
    hook(network.admin, kinds=["portrules"])
    PortRules.objects.create(group_id=network.group.pk)
    PortRules.objects.create(group_id=GatewayGroup.objects.create(name="Second").pk)
    found = list_queued_bodies()
    _token, key = tokens.create_token(user=network.admin, name="s")
    client = Client(headers={"authorization": f"Bearer {key}"})
    urls = [each["object"]["url"].removeprefix("http://127.0.0.1:8000") for each in found]
    assert [client.get(url).json()["group"] for url in urls] == [each["object"]["id"] for each in found]
    assert found[0]["object"]["id"] == network.group.pk


def test_only_what_the_owner_may_see_now_is_told(network: factories.Network, receiver: Receiver) -> None:
    endpoint = hook(network.admin, receiver.url)
    forward(network)
    assert {each["event"] for each in list_queued_bodies()} >= {"forward.created"}
    factories.user("tom")
    list_queued_bodies()
    User.objects.filter(pk=network.admin.pk).update(roles=["member"])
    delivery_sender.send_due_deliveries()
    assert receiver.came == [] and set(Delivery.objects.values_list("state", flat=True)) == {"dropped"}
    queued = endpoint.deliveries.count()
    forward(network, 9000)
    assert len(list_queued_bodies()) == queued


def test_what_waits_is_sent_as_far_as_the_owner_may_still_see_it(network: factories.Network, receiver: Receiver) -> None:
    hook(network.admin, receiver.url, kinds=["device", "pool"])
    Device.objects.filter(name="Laptop of m1").update(name="Phone")
    Pool.objects.filter(pk=network.public.pk).update(name="Uplink")
    assert len(list_queued_bodies()) == 2
    factories.user("tom")
    User.objects.filter(pk=network.admin.pk).update(roles=["helpdesk"])
    delivery_sender.send_due_deliveries()
    assert dict(Delivery.objects.values_list("event", "state")) == {"device.changed": "sent", "pool.changed": "dropped"}
    assert [headers["X-Netzwart-Event"] for headers, _body in receiver.came] == ["device.changed"]


def test_while_it_is_paused_nothing_is_queued_or_sent(network: factories.Network, receiver: Receiver) -> None:
    endpoint = hook(network.admin, receiver.url, kinds=["forward"])
    forward(network)
    assert len(list_queued_bodies()) == 1
    facts = EndpointFacts(name="Door", url=receiver.url, kinds=["forward"], active=False)
    paused = services.change_webhook(endpoint=endpoint, version=1, facts=facts, by=network.admin)
    forward(network, 9000)
    delivery_sender.send_due_deliveries()
    assert len(list_queued_bodies()) == 1 and receiver.came == []
    with pytest.raises(Problem):
        services.ping_webhook(endpoint=paused, by=network.admin)


def test_kinds_are_chosen_by_boxes_in_groups_of_what_the_owner_may_see(network: factories.Network) -> None:
    shown = text(signed_in(network.admin).get("/webhooks/add/"))
    assert (
        shown.count('name="kinds"') == len(list_kinds())
        and "<select" not in shown.partition('id="id_kinds"')[2].partition("</fieldset></div>")[0]
    )
    assert "<legend>People</legend>" in shown and "Port forwards <code>forward</code>" in shown
    row = hook(network.admin, kinds=["forward", "ban"])
    again = text(signed_in(network.admin).get(f"/webhooks/{row.pk}/edit/"))
    chosen = [
        part.partition('value="')[2].partition('"')[0]
        for part in again.split("<input")[1:]
        if 'name="kinds"' in part and " checked>" in part
    ]
    assert sorted(chosen) == ["ban", "forward"]


def test_what_was_told_of_somebody_is_forgotten_with_the_persons_data(network: factories.Network) -> None:
    hook(network.admin, kinds=["member", "device"])
    who, other = network.residents["m1"].member, network.residents["m2"].member
    Member.objects.filter(pk__in=[who.pk, other.pk]).update(note="rang")
    Device.objects.filter(member__in=[who, other]).update(name="Phone of mine")
    assert len(list_queued_bodies()) == 4
    Member.objects.filter(pk=who.pk).update(state="left")
    assert erase_member(Member.objects.get(pk=who.pk))
    left = [str(each) for each in list_queued_bodies()]
    assert [each for each in left if other.name in each] and [each for each in left if "Phone of mine" in each]
    assert not [each for each in left if who.name in each]
    assert [each["object"]["kind"] for each in list_queued_bodies()].count("device") == 2, "the other's change, and that one is gone"


# --- Late commits


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_commits_late_is_told_though_later_ones_were_read_before() -> None:
    network = factories.network()
    hook(network.admin, kinds=["device"])
    known = connection.get_connection_params()
    with psycopg.connect(**{name: known[name] for name in ("dbname", "user", "host", "password", "port") if name in known}) as late:
        late.execute("UPDATE members_device SET name = 'late' WHERE id = (SELECT min(id) FROM members_device)")
        Device.objects.filter(pk=Device.objects.latest("pk").pk).update(name="early")
        assert list_queued_bodies() == []  # an older transaction may still commit
        late.commit()
        assert sorted(each["after"]["name"] for each in list_queued_bodies()) == ["early", "late"]
        late.execute("UPDATE members_device SET name = 'never' WHERE id = (SELECT min(id) FROM members_device)")
        Device.objects.filter(pk=Device.objects.latest("pk").pk).update(name="again")
        late.rollback()
        assert [each["after"]["name"] for each in list_queued_bodies()][2:] == ["again"]


def test_a_position_moves_when_those_who_were_writing_have_ended_though_others_write_always() -> None:
    position = Position(table="t", done=5, settled=5, holders=[])
    assert delivery_gathering.advance_position(position, 9, ["3/1"]) and (position.settled, position.candidate) == (5, 9)
    assert not delivery_gathering.advance_position(position, 12, ["3/1", "4/7"])
    assert delivery_gathering.advance_position(position, 15, ["4/8"]) and (position.settled, position.candidate) == (9, 15)
    assert delivery_gathering.advance_position(position, 15, []) and (position.settled, position.candidate) == (15, None)


# --- On the wire


def test_what_is_sent_is_signed_so_that_the_receiver_can_tell(network: factories.Network, receiver: Receiver) -> None:
    endpoint, secret = services.add_webhook(facts=EndpointFacts(name="Door", url=receiver.url), by=network.admin)
    services.ping_webhook(endpoint=endpoint, by=network.admin)
    delivery_sender.send_due_deliveries()
    [(headers, body)] = receiver.came
    at = int(headers["X-Netzwart-Signature"].split(",")[0].removeprefix("t="))
    expected = hmac.new(secret.encode(), f"{at}.".encode() + body, "sha256").hexdigest()
    assert headers["X-Netzwart-Signature"] == f"t={at},v1={expected}" and abs(at - timezone.now().timestamp()) < 600
    assert headers["X-Netzwart-Delivery"] == json.loads(body)["delivery"] and headers["X-Netzwart-Event"] == "ping"
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert secret not in str(list(Endpoint.objects.values())) and secret == derive_secret(endpoint.salt)
    assert services.renew_secret(endpoint=endpoint, by=network.admin) != secret


def test_a_failure_is_tried_again_later_and_then_given_up_with_a_mail(network: factories.Network, receiver: Receiver) -> None:
    User.objects.filter(pk=network.admin.pk).update(email="mara@lindenhof.example")
    receiver.answers = [500, 302, 200, 500]
    receiver.text = b"x" * 100_000
    endpoint = hook(network.admin, receiver.url)
    row, now = services.ping_webhook(endpoint=endpoint, by=network.admin), timezone.now()
    for minutes, came, state in ((0, 1, "waiting"), (0, 1, "waiting"), (2, 2, "waiting"), (3, 2, "waiting"), (5, 3, "sent")):
        delivery_sender.send_due_deliveries(lambda minutes=minutes: now + timedelta(minutes=minutes))  # type: ignore[misc]
        row.refresh_from_db()
        assert (len(receiver.came), row.state) == (came, state)
    assert (row.status, len(row.answer), row.tries) == (200, delivery_sender.KEPT, 3)
    assert len({headers["X-Netzwart-Delivery"] for headers, _body in receiver.came}) == 1
    services.resend_delivery(delivery=row, by=network.admin)
    for day in range(1, 40):
        delivery_sender.send_due_deliveries(lambda day=day: now + timedelta(days=day))  # type: ignore[misc]
    row.refresh_from_db()
    assert (row.state, row.tries) == ("failed", delivery_sender.GIVE_UP)
    told = Message.objects.get(about_type="webhooks.endpoint")
    assert (told.to, told.language) == ("mara@lindenhof.example", "en")


def test_an_endpoint_that_is_away_rests_and_does_not_hold_up_another(network: factories.Network, receiver: Receiver) -> None:
    with receiving() as gone:
        away = hook(network.admin, gone.url, name="Away")
    there = hook(network.admin, receiver.url, name="There")
    for _number in range(3):
        services.ping_webhook(endpoint=away, by=network.admin)
    Endpoint.objects.filter(pk=away.pk).update(failures=4)
    services.ping_webhook(endpoint=there, by=network.admin)
    now = timezone.now()
    delivery_sender.send_due_deliveries(lambda: now)
    assert list(away.deliveries.order_by("id").values_list("tries", flat=True)) == [1, 0, 0]
    assert there.deliveries.get().state == "sent"
    assert "unreachable" in away.deliveries.order_by("id")[0].error


def test_a_slow_webhook_receiver_is_cut_off(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_sender, "TRY", 0.3)
    with receiving() as slow:
        slow.before_answering = slow.over.wait
        row = services.ping_webhook(endpoint=hook(network.admin, slow.url), by=network.admin)
        delivery_sender.send_due_deliveries()
        slow.over.set()
    row.refresh_from_db()
    assert (row.state, row.tries) == ("waiting", 1) and "too slow" in row.error


def test_a_worker_that_dies_between_sending_and_noting_sends_it_again_under_the_same_id(
    network: factories.Network, receiver: Receiver
) -> None:
    row, now = services.ping_webhook(endpoint=hook(network.admin, receiver.url), by=network.admin), timezone.now()
    claimed = delivery_sender.claim_delivery(now)
    assert claimed is not None and delivery_sender.try_delivery(claimed, now) == delivery_sender.DeliveryAnswer(200, "thanks")
    delivery_sender.send_due_deliveries(lambda: now + timedelta(seconds=30))
    assert len(receiver.came) == 1  # claimed until the lease is over
    delivery_sender.send_due_deliveries(lambda: now + delivery_sender.LEASE)
    row.refresh_from_db()
    ids = [headers["X-Netzwart-Delivery"] for headers, _body in receiver.came]
    assert (row.state, ids) == ("sent", [str(row.uid)] * 2)
    delivery_sender.record_answer(claimed, delivery_sender.DeliveryAnswer(500), now)  # a late answer changes nothing
    row.refresh_from_db()
    assert (row.state, row.status, row.due <= now) == ("sent", 200, True)


def test_a_worker_that_was_away_too_long_does_not_let_go_of_what_another_has_in_hand(network: factories.Network) -> None:
    row, now = services.ping_webhook(endpoint=hook(network.admin), by=network.admin), timezone.now()
    first, second = delivery_sender.claim_delivery(now), delivery_sender.claim_delivery(now + delivery_sender.LEASE)
    assert first and second
    delivery_sender.record_answer(first, delivery_sender.DeliveryAnswer(500), now + delivery_sender.LEASE)
    row.refresh_from_db()
    assert (row.tries, row.claimed_until) == (2, now + 2 * delivery_sender.LEASE)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:a00:1::]/",
        "http://169.254.169.254/latest",
        "http://224.0.0.1/",
        "http://198.51.100.7/",
        "ftp://example.org/",
        "https://mara:secret@example.org/",
        "https:///x",
    ],
)
def test_an_address_that_must_not_be_asked_is_refused_and_never_asked(url: str, network: factories.Network) -> None:
    with pytest.raises(Problem):
        hook(network.admin, url)
    endpoint = hook(network.admin)
    Endpoint.objects.filter(pk=endpoint.pk).update(url=url)
    row = services.ping_webhook(endpoint=endpoint, by=network.admin)
    delivery_sender.send_due_deliveries()
    row.refresh_from_db()
    assert row.status is None and row.error.partition(":")[0] in ("private", "scheme", "address")


def test_what_is_our_own_is_never_asked_though_it_is_of_the_public_internet(network: factories.Network, settings: LazySettings) -> None:
    settings.WEBHOOK_NETWORKS = []
    assert all(delivery_sender.build_allowed_targets().can_ask(ip_address(each)) for each in ("9.9.9.9", "2620:fe::fe"))
    factories.pool(network.group, "public4", "9.9.9.0/24")
    Gateway.objects.filter(name="nat-1").update(management_networks=[ip_network("2620:fe::/48")])
    for own in ("9.9.9.9", "[::ffff:9.9.9.9]", "[64:ff9b::909:909]", "[2002:909:909::1]", "[2620:fe::fe]"):
        with pytest.raises(Problem, match="belongs to our own networks"):
            hook(network.admin, f"http://{own}/")
    assert delivery_sender.build_allowed_targets().can_ask(ip_address("9.9.8.9"))
    settings.WEBHOOK_NETWORKS = [ip_network("9.9.9.9/32")]
    assert delivery_sender.build_allowed_targets().can_ask(ip_address("9.9.9.9"))


def test_without_the_settings_only_https_and_the_internet_are_told(network: factories.Network, settings: LazySettings) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = False, []
    for url in ("http://example.org/", "https://127.0.0.1/", "https://localhost/x y"):
        with pytest.raises(Problem):
            hook(network.admin, url)
    row = services.ping_webhook(endpoint=hook(network.admin, "https://localhost/"), by=network.admin)
    delivery_sender.send_due_deliveries()
    row.refresh_from_db()
    assert row.error.startswith("private: localhost")


def test_old_deliveries_are_forgotten_and_names_are_unique(network: factories.Network) -> None:
    row = services.ping_webhook(endpoint=hook(network.admin), by=network.admin)
    Delivery.objects.filter(pk=row.pk).update(state="sent", ended=timezone.now() - timedelta(days=31))
    assert prune_deliveries(timezone.now(), 10) == 1
    with pytest.raises(Problem):
        hook(network.admin)
    assert compute_signature("s", 1, b"{}") == "t=1,v1=" + hmac.new(b"s", b"1.{}", "sha256").hexdigest()


def test_a_member_changes_and_all_kinds_are_told_when_none_is_chosen(network: factories.Network) -> None:
    hook(network.admin)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(note="rang")
    [found] = list_queued_bodies()
    assert found["event"] == "member.changed" and (found["before"]["note"], found["after"]["note"]) == ("", "rang")


def test_the_receiver_of_the_documentation_believes_us_and_nobody_else(network: factories.Network, receiver: Receiver) -> None:
    text = (configured.ROOT / "docs" / "webhooks.md").read_text()
    known: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], known)  # noqa: S102 - our own documentation
    endpoint, secret = services.add_webhook(facts=EndpointFacts(name="Door", url=receiver.url), by=network.admin)
    services.ping_webhook(endpoint=endpoint, by=network.admin)
    delivery_sender.send_due_deliveries()
    [(headers, body)] = receiver.came
    believes, signed = known["is_from_netzwart"], headers["X-Netzwart-Signature"]
    assert believes(secret, signed, body)
    assert not believes(secret + "x", signed, body) and not believes(secret, signed, body + b" ")
    assert not believes(secret, compute_signature(secret, int(timezone.now().timestamp()) - 3600, body), body)


# --- Pages and API


def test_a_network_admin_makes_tests_changes_and_removes_one_on_the_pages(network: factories.Network, receiver: Receiver) -> None:
    client = signed_in(network.admin)
    assert "No webhooks yet" in client.get("/webhooks/").content.decode()
    given = {"name": "Door", "url": receiver.url, "kinds": ["forward"], "events": ["created"], "active": "on"}
    assert client.post("/webhooks/add/", given | {"url": "ftp://x/"}).status_code == 422
    shown = client.post("/webhooks/add/", given).content.decode()
    row = Endpoint.objects.get()
    assert derive_secret(row.salt) in shown and (row.kinds, row.on, row.owner) == (["forward"], ["created"], network.admin)
    assert client.post(f"/webhooks/{row.pk}/ping/").status_code == 302
    delivery_sender.send_due_deliveries()
    delivery = row.deliveries.get()
    page = client.get(f"/webhooks/deliveries/{delivery.pk}/").content.decode()
    assert "thanks" in page and str(delivery.uid) in page
    client.post(f"/webhooks/deliveries/{delivery.pk}/again/")
    delivery_sender.send_due_deliveries()
    assert len(receiver.came) == 2
    late = client.post(f"/webhooks/{row.pk}/edit/", given | {"version": "7"})
    assert late.status_code == 422 and "This was changed since you read it" in late.content.decode()
    assert client.post(f"/webhooks/{row.pk}/edit/", given | {"version": "1", "name": "Gate", "active": ""}).status_code == 302
    page = client.get(f"/webhooks/{row.pk}/").content.decode()
    assert "It is paused." in page and "ping" in page and derive_secret(row.salt) not in page
    assert derive_secret(row.salt) not in client.post(f"/webhooks/{row.pk}/secret/").content.decode()
    assert client.post(f"/webhooks/{row.pk}/remove/").status_code == 302 and not Delivery.objects.exists()


def test_a_script_makes_a_webhook_tell_neither_more_than_it_reads_nor_somebody_else(network: factories.Network) -> None:
    def script(*scopes: str) -> Client:
        key = tokens.create_token(user=network.admin, name="s", scopes=[*scopes, "webhook:write"])[1]
        return Client(headers={"authorization": f"Bearer {key}"})

    row = hook(network.admin, kinds=["forward"])
    path, narrow, wide = f"/api/webhooks/webhooks/{row.pk}/", script("ban:read"), script("*:read")
    for client, wrong, field in (
        (narrow, {"url": "https://evil.example.net/"}, "url"),
        (wide, {"url": "https://evil.example.net/"}, "url"),
        (narrow, {"kinds": ["forward", "member"]}, "kinds"),
        (narrow, {"kinds": []}, "kinds"),
    ):
        refused = client.patch(path, wrong, content_type="application/json")
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, field), wrong
    row.refresh_from_db()
    assert (row.url, row.kinds) == ("https://hooks.example.org/", ["forward"])
    for client, right in ((narrow, {"kinds": ["forward", "ban"]}), (narrow, {"name": "Gate", "active": False}), (wide, {"kinds": []})):
        assert client.patch(path, right, content_type="application/json").status_code == 200, right
    staff = signed_in(network.admin)
    assert staff.patch(path, {"url": "https://hooks.example.com/"}, content_type="application/json").status_code == 200


def test_a_script_reads_changes_and_tests_them_and_never_sees_a_secret(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="s")
    client, row = Client(headers={"authorization": f"Bearer {key}"}), hook(network.admin)
    path = f"/api/webhooks/webhooks/{row.pk}/"
    told_of = client.patch(path, {"kinds": ["ban"], "events": ["removed"]}, content_type="application/json")
    assert (told_of.json()["kinds"], told_of.json()["events"], told_of.json()["version"]) == (["ban"], ["removed"], 2)
    for wrong in ({"kinds": ["token"]}, {"url": "https://10.0.0.1/"}, {"events": ["eaten"]}):
        assert client.patch(path, wrong, content_type="application/json").status_code == 400
    assert client.post(f"{path}ping/").json()["event"] == "ping"
    [delivery] = client.get("/api/webhooks/deliveries/").json()["results"]
    assert client.post(f"/api/webhooks/deliveries/{delivery['id']}/again/").status_code == 409
    assert derive_secret(row.salt) not in client.get(path).content.decode() and "salt" not in client.get(path).json()
    assert client.delete(path).status_code == 204
