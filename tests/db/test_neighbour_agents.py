"""This portal with agents of the last release, as real processes: they get changes and are read, and pages say calmly what is to do."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from django.db.models import F
from django.utils import timezone
from structlog.testing import capture_logs

from apps.bans import services as bans
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.desk.needs.collection import list_attention_items
from apps.desk.needs.need import AttentionItem
from apps.gateways import agent_texts
from apps.gateways.health.collection import read_all_gateways
from apps.gateways.health.models import HealthReading, HealthStatus
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.observation import probe_all_gateways
from apps.gateways.roles.models import FailoverStatus
from apps.gateways.roles.observation import observe_group
from apps.gateways.services import collect_counters
from apps.gateways.timeouts.models import TimeoutReading
from apps.gateways.timeouts.reading import read_timeouts
from apps.network.models import GatewayGroup
from firewall import wire, wire_versions
from firewall.machine import Describe, MachineFacts
from firewall.probe_messages import ReadProbes, Target
from firewall.wire_versions import ADDED, Additions
from tests import factories, wire_schema
from tests.db.agents import end_started, same_everywhere, steps, stop_agent

pytestmark = pytest.mark.django_db(transaction=True)
RELEASED = max(wire_schema.RELEASED)


@pytest.fixture
def network(served_network: factories.Network, released_sources: Path) -> Iterator[factories.Network]:
    """Two gateways in memory with agents of the last release, which run the desired state."""
    for gateway in served_network.gateways:
        with stop_agent(gateway, released_sources):
            pass
    reconcile(served_network.group)
    yield served_network
    end_started()


def ban(network: factories.Network, prefix: str) -> None:
    bans.ban_prefix(list=bans.create_list(name=prefix, by=network.admin), prefix=prefix, comment="scans", author=network.admin)


def list_needs(*, key: str) -> list[AttentionItem]:
    return [each for each in list_attention_items(timezone.now()) if each.key.startswith(key)]


def lack(monkeypatch: pytest.MonkeyPatch, *classes: str) -> None:
    """Pretend that these messages came with this portal's version."""
    monkeypatch.setitem(wire_versions.LACKING, RELEASED, Additions(classes=frozenset(classes)))


def test_agents_of_the_last_release_get_changes(network: factories.Network) -> None:
    ban(network, "203.0.113.9/32")
    rollout = reconcile(network.group)
    assert rollout and (rollout.state, set(steps(rollout).values())) == (Rollout.State.CONFIRMED, {"confirmed"})
    assert same_everywhere(network)
    assert agent_channel.get_channel(network.gateways[0]).version == RELEASED


def test_one_agent_after_the_other_is_upgraded_and_nothing_is_lost(network: factories.Network) -> None:
    for number, gateway in enumerate(network.gateways):
        with stop_agent(gateway):
            pass
        ban(network, f"203.0.113.{number}/32")
        reconcile(network.group)
        assert same_everywhere(network)
        assert agent_channel.get_channel(gateway).version == wire.VERSION, "the cut channel has found out by itself"
    reconcile(network.group, cause="schedule")
    assert not GatewayState.objects.exclude(protocol=wire.VERSION).exists() and not list_needs(key="agent")


def test_agents_of_the_last_release_are_read(network: factories.Network) -> None:
    gateway = network.gateways[0]
    assert collect_counters(gateway)
    read_all_gateways()
    assert HealthReading.objects.count() == HealthStatus.objects.filter(refusal="").count() == 2
    observe_group(network.group)
    assert all("failover is not set up here" in each.problem for each in FailoverStatus.objects.all())
    probe_all_gateways()
    channel = agent_channel.get_channel(gateway)
    assert isinstance(channel.ask(Describe()), MachineFacts)
    assert agent_client.expect_answer(wire.Drifted, channel.ask(wire.Drift(0))).rules == ()
    reconcile(network.group, cause="schedule")
    assert not GatewayState.objects.exclude(unreachable_since=None).exists()


def test_standing_probes_are_asked_without_what_the_agents_lack(network: factories.Network) -> None:
    channel, asked = agent_channel.get_channel(network.gateways[0]), ReadProbes((Target(ip_address("192.0.2.9"), 80),), 2000, 300, "", 0)
    told = channel.ask(asked)
    assert not agent_client.is_request_unknown(told), told
    refused = channel.ask(replace(asked, responder_port=4711))
    assert isinstance(refused, wire.Refused) and agent_client.is_request_unknown(refused)
    assert "(ReadProbes.responder_port is not known there)" in refused.text


def test_an_agent_of_the_last_release_probes_without_the_responder(network: factories.Network) -> None:
    """In memory there is no prober: that is the answer to the question which it knows."""
    factories.probes(network)
    GatewayGroup.objects.update(responder_port=7077)
    GatewayState.objects.update(in_memory=False)
    probe_all_gateways()
    assert {each.text.partition("cannot probe: ")[2] for each in ProbeStatus.objects.all()} == {
        "this gateway has no prober: its agent was started without --prober"
    }


def test_a_calm_need_names_the_releases_and_what_to_do(network: factories.Network) -> None:
    reconcile(network.group, cause="schedule")
    [need] = list_needs(key="agent")
    assert (need.state.kind.value, need.what) == ("plain", "The agents of nat-1, nat-2 are of an older release")
    assert agent_texts.get_own_release() in need.evidence and GatewayState.objects.all()[0].agent in need.evidence
    assert "docs/upgrade.md" in need.evidence and need.gateways == {each.pk for each in network.gateways}
    assert not list_needs(key="gateway") and not list_needs(key="away")


def test_what_is_missing_is_named(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_texts, "FEATURES", {wire.VERSION: ("probes from outside", "queues of cards")})
    reconcile(network.group, cause="schedule")
    [need] = list_needs(key="agent")
    assert "Missing until then: probes from outside, queues of cards." in need.evidence


def test_a_reading_that_the_agents_lack_is_no_fault_and_not_logged_each_time(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    lack(monkeypatch, "ReadHealth")
    with capture_logs() as logs:
        for _ in range(3):
            read_all_gateways()
    assert [each["event"] for each in logs if each["log_level"] in ("warning", "error")] == ["no health"] * 2, "once for each gateway"
    [first, second] = list_needs(key="health")
    assert first.state.kind.value == second.state.kind.value == "plain"
    assert "nat-1's agent cannot do this yet" in first.evidence
    reconcile(network.group, cause="schedule")
    assert not GatewayState.objects.exclude(unreachable_since=None).exists()


def test_a_request_that_the_agents_lack_ends_as_one_for_a_newer_release(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    lack(monkeypatch, "ReadTimeouts")
    row = TimeoutReading.objects.create(gateway=network.gateways[0], asked=timezone.now(), state=TimeoutReading.State.WAITING)
    read_timeouts(row.pk)
    row.refresh_from_db()
    assert row.state == TimeoutReading.State.OLDER


def test_a_change_that_an_agent_lacks_reaches_the_others_and_it_too_after_its_upgrade(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = network.gateways
    with stop_agent(newer):
        pass
    lack(monkeypatch, "Apply")
    ban(network, "203.0.113.9/32")
    assert steps(reconcile(network.group)) == {older.name: "impaired", newer.name: "confirmed"}
    state = GatewayState.objects.get(gateway=older)
    assert state.error.startswith(f"{older.name}'s agent cannot do this yet") and state.unreachable_since is None
    with stop_agent(older):
        pass
    Rollout.objects.update(finished=F("finished") - timedelta(hours=2))
    assert steps(reconcile(network.group, cause="schedule")) == {older.name: "confirmed", newer.name: "confirmed"}
    assert same_everywhere(network)


def test_every_version_that_adds_something_has_words_for_it() -> None:
    assert [version for version, added in ADDED.items() if added != Additions() and not agent_texts.FEATURES.get(version)] == []
    assert agent_texts.FEATURES.keys() == ADDED.keys()


def test_an_agent_that_has_not_answered_is_not_called_older() -> None:
    assert [agent_texts.is_agent_older(each) for each in (0, wire.SPOKEN[0], wire.VERSION)] == [False, True, False]
