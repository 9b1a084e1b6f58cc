"""A gateway under an attacker's control may answer anything. Honest ones get their changes, and nothing is left open or broken."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.bans import services as bans
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from tests import factories
from tests.db.agents import end_started, runs, steps
from tests.db.lying_gateway import Lie, lying
from workers import deploy

pytestmark = pytest.mark.django_db(transaction=True)
KINDS: dict[type[wire.Request], str] = {
    wire.Hello: "hello",
    wire.Plan: "plan",
    wire.Apply: "apply",
    wire.Confirm: "confirm",
    wire.Drift: "drift",
}


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Two gateways in memory that run the desired state."""
    reconcile(served_network.group)
    yield served_network
    end_started()


def ban(network: factories.Network, prefix: str) -> None:
    bans.ban_prefix(list=bans.create_list(name=prefix, by=network.admin), prefix=prefix, comment="scans", author=network.admin)


def saying(to: str, **changes: Any) -> Lie:
    """Return a lie that changes these values in the answers to requests of this kind."""
    return lambda request, honest: json.dumps(json.loads(honest) | changes) if KINDS.get(type(request)) == to else honest


def answering(to: str, text: str) -> Lie:
    return lambda request, honest: text if KINDS.get(type(request)) == to else honest


def refusal(reason: str, text: str) -> str:
    return json.dumps({"is": "Refused", "reason": reason, "text": text})


LIES: dict[str, Lie] = {
    "a NUL in why it refused": answering("apply", refusal("state", "no\0room")),
    "half a character in why it refused": answering("apply", refusal("state", "no \ud800 room")),
    "more flows cut than a column takes": saying("apply", flows_cut=1 << 31),
    "flows cut beyond all numbers": saying("apply", flows_cut=1 << 70),
    "a commit that took longer than the universe": saying("apply", commit_ms=1 << 64),
    "an answer without end": answering("apply", "[" + "[]," * 5_000_000 + "[]]"),
    "an answer that is deep": answering("hello", "[" * 100_000),
    "a version that is a book": saying("hello", agent="0.1" * 10_000),
    "a disk that says NUL": saying("hello", disk="\0"),
    "the highest token there can be": saying("hello", token=(1 << 63) - 1),
    "the one below": saying("hello", token=(1 << 63) - 2),
    "a token that is no bigint": saying("hello", token=1 << 63),
    "a negative token": saying("hello", token=-1),
    "keys of no width": saying(
        "drift", elements={"up4": {"missing": {"count": 1, "keys": "AA=="}, "foreign": {}, "missing_count": 1, "foreign_count": 0}}
    ),
    "rules with NUL": saying("drift", rules=["chain \0"]),
}


@pytest.mark.parametrize("lie", LIES)
def test_the_honest_gateway_gets_its_change_whatever_the_other_says(network: factories.Network, lie: str) -> None:
    liar, honest = network.gateways
    with lying(liar, LIES[lie]):
        for cause, force in (("change", False), ("schedule", False), ("change", True)):
            before = runs(honest)
            ban(network, f"192.0.2.{len(cause) + force}")
            rollout = reconcile(network.group, cause=cause, force=force)
            assert steps(rollout)[honest.name] == "confirmed"
            assert runs(honest) != before
            assert not Rollout.objects.filter(state__in=Rollout.OPEN).exists()
    assert agent_client.send_hello(agent_channel.get_channel(honest), 0).token < 10**6
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value < 1000000 FROM deployments_token")
        assert cursor.fetchone() == (True,)


def test_a_reason_that_is_none_and_long_is_a_refusal_like_any_other(network: factories.Network) -> None:
    with lying(network.gateways[0], answering("apply", refusal("x" * 1000, "no"))):
        ban(network, "192.0.2.66")
        assert steps(reconcile(network.group)) == {"nat-1": "refused", "nat-2": "skipped"}


def test_try_again_does_not_follow_a_token_to_which_nobody_can_have_counted(network: factories.Network) -> None:
    """The page does not advise it either."""
    liar, honest = network.gateways
    agent_client.send_hello(agent_channel.get_channel(liar), 0, wire.LEAP_ADOPTED * 3)
    ban(network, "192.0.2.66")
    rollout = reconcile(network.group, force=True)
    assert steps(rollout) == {"nat-1": "impaired", "nat-2": "confirmed"}
    assert "set this gateway up again" in GatewayState.objects.get(gateway=liar).error
    assert agent_client.send_hello(agent_channel.get_channel(honest), 0).token < 10**6


def test_an_agent_refuses_a_token_that_leaves_none_to_come_after_it(network: factories.Network) -> None:
    honest = agent_channel.get_channel(network.gateways[1])
    for leap in (wire.LEAP_OBEYED + 1000, (1 << 63) - 1):
        answer = honest.ask(wire.Hello(0, leap))
        assert isinstance(answer, wire.Refused) and answer.reason == "token", answer
    ban(network, "192.0.2.66")
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}


def test_a_fault_at_one_group_keeps_nothing_from_the_next(network: factories.Network) -> None:
    """The database refuses the revision of one group."""
    broken = GatewayGroup.objects.create(name="A broken one", live_since=timezone.now())
    at = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "management_networks": network.gateways[0].management_networks}
    Gateway.objects.create(group=broken, name="other", link=Gateway.Link.LOCAL, **at)
    Gateway.objects.filter(group=network.group).update(lan="bond0")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE deployments_revision ADD CONSTRAINT spoiled CHECK (group_id <> %s) NOT VALID", [broken.pk])
    try:
        with pytest.raises(ExceptionGroup):
            deploy.reconcile()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE deployments_revision DROP CONSTRAINT spoiled")
    assert steps(Rollout.objects.latest("pk")) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert Rollout.objects.latest("pk").revision.cause == "schedule"


def test_every_request_says_how_long_its_answer_may_be() -> None:
    asked = set(wire.Request.__args__)
    assert set(wire.ANSWERED) == asked
    assert wire.ANSWERED[wire.Hello].characters <= 64 << 10
