"""The probe through each gateway, with packets: it passes where members' packets would, and names what stops it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from apps.deployments.rollouts.probing import ProbeResult, probe_gateway
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.desk.needs.collection import list_attention_items
from apps.gateways.packet_probes.judgement import IN_A_ROW, InwardVerdict, ProbeVerdict, do_all_pass, judge_inward, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.observation import probe_all_gateways
from apps.gateways.services import collect_counters
from apps.network.models import Gateway, GatewayGroup
from apps.traffic.models import FiveMinutes
from lab.lab import Lab
from tests import factories
from tests.whole.system import PROBES, RESPONDER_PORT, prober, quick_probes, reaches, read_probes, responder, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

TARGETS = {4: "203.0.113.10 port 80", 6: "2001:db8:cafe::10 port 80"}


@pytest.fixture
def probed_network(lab: Lab, network: factories.Network) -> factories.Network:
    """The lab's network, deployed, with a probe through each gateway."""
    factories.probes(network)
    reconcile(network.group)
    return network


def run_probes(gateway: Gateway) -> list[ProbeResult]:
    """Return the results of probing, IPv4 first."""
    return list(probe_gateway(agent_channel.get_channel(gateway), gateway))


def nft(lab: Lab, node: str, *command: str) -> str:
    return lab.run(node, ["nft", *command]).stdout


def counters(lab: Lab, node: str) -> dict[str, int]:
    """Return the packet counts of a gateway's named counters."""
    words = nft(lab, node, "list", "counters", "table", "inet", "netzwart").split()
    return {words[at + 1]: int(words[at + 4]) for at, word in enumerate(words) if word == "counter"}


def test_the_probe_passes_through_each_gateway_for_each_family(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        for evidence in run_probes(gateway):
            assert evidence.ok, evidence.sentence
            assert evidence.ms is not None
            assert 0 < evidence.ms < 1000
            words = f"{TARGETS[evidence.family]} answered through {gateway.name} in {evidence.ms:.1f} ms."
            assert evidence.sentence == f"IPv{evidence.family}: {words}"


def test_it_is_this_gateway_and_no_other_that_sees_the_packets_both_ways(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        [other] = [name for name in PROBES if name != gateway.name]
        here, there = counters(lab, gateway.name), counters(lab, other)
        run_probes(gateway)
        mine = [name for name in here if name.startswith("probe_")]
        assert len(mine) == 4
        assert all(counters(lab, gateway.name)[name] > here[name] for name in mine)
        assert counters(lab, other) == there


def test_the_target_sees_the_public_address_of_the_probe(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        answers = [lab.connect(PROBES[gateway.name], "tcp", host, 80) for host in ("203.0.113.10", "2001:db8:cafe::10")]
        assert [each.peer_address for each in answers] == [str(gateway.probe_public4), str(gateway.probe_source6)]


def test_nobody_is_billed_for_a_probe(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        run_probes(gateway)
        assert collect_counters(gateway)
    assert not FiveMinutes.objects.exists()


def test_a_forward_chain_that_lost_its_way_is_seen(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        nft(lab, gateway.name, "flush", "chain", "inet", "netzwart", "forward")
        for evidence in run_probes(gateway):
            assert evidence.ok is False
            assert (
                f"cannot be reached through {gateway.name}: no answer within 1000 ms. No packet of the probe was forwarded"
                in evidence.sentence
            )


def test_rules_of_somebody_else_that_drop_are_seen(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        table = "table inet other { chain f { type filter hook forward priority -10; policy drop; }; };"
        nft(lab, gateway.name, table)
        assert [each.ok for each in run_probes(gateway)] == [False, False]


def read_probes_until(so: Callable[[], bool]) -> None:
    """Read standing probes until it is so."""

    def is_so() -> bool:
        probe_all_gateways()
        return so()

    wait_for(is_so)


@pytest.fixture
def standing(probed_network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> factories.Network:
    """The network with standing probes that have passed for a while."""
    quick_probes(monkeypatch)
    read_probes_until(lambda: ProbeStatus.objects.count() == 4)
    read_probes(3)
    return probed_network


def test_standing_probes_see_handshakes_echoes_and_packets_of_full_size_both_ways(standing: factories.Network) -> None:
    for status in ProbeStatus.objects.all():
        assert len(status.recent) >= 3 and all(0 < each < 300_000 for each in status.recent)
        assert set(status.lost_echoes) == {0} and status.full_size_answered and status.full_size_lost == 0


def test_between_rollouts_the_dashboard_says_within_two_probes_that_a_gateway_drops_everything(
    lab: Lab, standing: factories.Network
) -> None:
    first, other = standing.gateways
    assert do_all_pass(ProbeStatus.objects.all(), timezone.now()) and ProbeStatus.objects.count() == 4
    nft(lab, first.name, "table inet other { chain f { type filter hook forward priority -10; policy drop; }; };")
    read_probes(3)
    needs = {each.key: each for each in list_attention_items(timezone.now())}
    assert {key for key in needs if key.startswith("packets")} == {f"packets-of-{first.pk}-{family}" for family in (4, 6)}
    assert needs[f"packets-of-{first.pk}-4"].what == "No IPv4 packet comes back through nat-1"
    assert [each.state for each in ProbeStatus.objects.filter(gateway=other)] == ["passed", "passed"]
    nft(lab, first.name, "delete", "table", "inet", "other")
    read_probes(2)
    assert not any(each.key.startswith("packets-of") for each in list_attention_items(timezone.now()))


def test_a_router_that_takes_smaller_packets_only_is_named_and_so_is_one_that_says_nothing(lab: Lab, standing: factories.Network) -> None:
    first = standing.gateways[0]
    lab.run(first.name, ["ip", "link", "set", "wan0", "mtu", "1300"])
    read_probes(IN_A_ROW + 1)
    status = ProbeStatus.objects.get(gateway=first, family=4)
    assert judge_status(status, timezone.now()) is ProbeVerdict.SMALL_ONLY and status.mtu == 1300
    silent = "table inet silent { chain o { type filter hook output priority 0; icmp type destination-unreachable drop; }; };"
    nft(lab, first.name, silent)
    lab.run(first.name, ["ip", "link", "set", "wan0", "mtu", "1500"])
    read_probes(2)
    lab.run(first.name, ["ip", "link", "set", "wan0", "mtu", "1400"])
    read_probes(IN_A_ROW + 1)
    status.refresh_from_db()
    assert judge_status(status, timezone.now()) is ProbeVerdict.SMALL_ONLY and status.mtu == 0
    nft(lab, first.name, "delete", "table", "inet", "silent")
    lab.run(first.name, ["ip", "link", "set", "wan0", "mtu", "1500"])
    read_probes(2)
    assert do_all_pass(ProbeStatus.objects.all(), timezone.now())


def test_a_port_without_a_service_is_told_from_a_gateway_that_drops(lab: Lab, standing: factories.Network) -> None:
    """The uplink itself answers echoes; no program listens there."""
    standing.group.probe_target4, standing.group.probe_port = "203.0.113.1", 81
    standing.group.save()
    read_probes_until(lambda: "echoes" in ProbeStatus.objects.get(gateway=standing.gateways[0], family=4).text)
    read_probes(IN_A_ROW + 1)
    status = ProbeStatus.objects.get(gateway=standing.gateways[0], family=4)
    assert judge_status(status, timezone.now()) is ProbeVerdict.NOT_PROBED
    assert status.text == "IPv4: 203.0.113.1 answers echoes through nat-1, but not port 81: refused."


@pytest.fixture
def probed_both_ways(lab: Lab, standing: factories.Network, sockets: Path) -> Iterator[factories.Network]:
    """The network with a responder at its target, which has connected to each probe."""
    expect_responder(standing)
    with responder(lab, sockets):
        read_probes_until(lambda: judge_all_inward() == {InwardVerdict.COMES_IN})
        yield standing


def expect_responder(network: factories.Network) -> None:
    """Say in the group's settings that its targets connect back, and deploy it."""
    GatewayGroup.objects.update(responder_port=RESPONDER_PORT)
    network.group.refresh_from_db()
    reconcile(network.group)


def judge_all_inward() -> set[InwardVerdict | None]:
    return {judge_inward(each, timezone.now()) for each in ProbeStatus.objects.all()}


def judge_inward_of(gateway: Gateway) -> list[InwardVerdict | None]:
    """Return the verdicts of a gateway, IPv4 first."""
    return [judge_inward(each, timezone.now()) for each in ProbeStatus.objects.filter(gateway=gateway).order_by("family")]


def list_inward_needs() -> dict[str, str]:
    found = list_attention_items(timezone.now())
    return {each.key: f"{each.what}. {each.evidence}" for each in found if each.key.startswith(("inward", "responder", "packets"))}


def test_connections_from_outside_come_in_to_the_probe_of_each_gateway(lab: Lab, probed_both_ways: factories.Network) -> None:
    for gateway in probed_both_ways.gateways:
        for status in ProbeStatus.objects.filter(gateway=gateway):
            to = {4: gateway.probe_public4, 6: gateway.probe_source6}[status.family]
            host = {4: "203.0.113.10", 6: "2001:db8:cafe::10"}[status.family]
            assert status.inward_text.startswith(f"IPv{status.family}: {host} connected to {to} port 7077 through {gateway.name} in ")
    assert list_inward_needs() == {}


def test_a_gateway_that_lets_no_connection_in_is_told_from_one_that_passes_nothing(lab: Lab, probed_both_ways: factories.Network) -> None:
    first, other = probed_both_ways.gateways
    foreign = 'chain f { type filter hook forward priority -10; iifname "wan0" ct state new drop; };'
    nft(lab, first.name, f"table inet other {{ {foreign} }};")
    read_probes_until(lambda: judge_inward_of(first) == [InwardVerdict.BLOCKED] * 2)
    assert judge_inward_of(other) == [InwardVerdict.COMES_IN] * 2
    needs = list_inward_needs()
    assert needs.keys() == {f"inward-{first.group_id}-{family}" for family in (4, 6)}
    said = needs[f"inward-{first.group_id}-4"]
    assert said.startswith("No IPv4 connection from outside comes in through nat-1.")
    assert f"203.0.113.10 cannot connect to {first.probe_public4} port 7077 through nat-1: no answer within 300 ms." in said
    nft(lab, first.name, "delete", "table", "inet", "other")
    read_probes_until(lambda: judge_all_inward() == {InwardVerdict.COMES_IN})
    assert list_inward_needs() == {}


def test_a_ruleset_that_leads_nothing_to_the_probe_is_seen(lab: Lab, probed_both_ways: factories.Network) -> None:
    first = probed_both_ways.gateways[0]
    nft(lab, first.name, "flush", "chain", "inet", "netzwart", "dstnat")
    read_probes_until(lambda: judge_inward_of(first) == [InwardVerdict.BLOCKED, InwardVerdict.COMES_IN])


def test_a_responder_that_is_gone_says_nothing_about_the_gateways(lab: Lab, standing: factories.Network, sockets: Path) -> None:
    """In the lab another server listens there, which closes the connection."""
    expect_responder(standing)
    read_probes_until(lambda: judge_all_inward() == {InwardVerdict.NOT_ASKED})
    [said] = list_inward_needs().values()
    assert "the responder at 203.0.113.10 port 7077: it hangs up without an answer. Is the responder running there" in said
    with responder(lab, sockets):
        read_probes_until(lambda: judge_all_inward() == {InwardVerdict.COMES_IN})
    assert do_all_pass(ProbeStatus.objects.all(), timezone.now())


def test_a_responder_hangs_up_on_probes_that_it_does_not_allow(lab: Lab, standing: factories.Network, sockets: Path) -> None:
    expect_responder(standing)
    first, other = standing.gateways
    with responder(lab, sockets, RESPONDER_PORT, "--allow", str(first.probe_public4), "--allow", str(first.probe_source6)):
        read_probes_until(lambda: judge_inward_of(first) == [InwardVerdict.COMES_IN] * 2)
        read_probes_until(lambda: judge_inward_of(other) == [InwardVerdict.NOT_ASKED] * 2)
    assert "port 7077: it hangs up without an answer." in ProbeStatus.objects.get(gateway=other, family=4).inward_text


def test_nobody_but_the_responder_reaches_the_probe(lab: Lab, probed_both_ways: factories.Network) -> None:
    first = probed_both_ways.gateways[0]
    assert reaches(lab, "internet", str(first.probe_public4), RESPONDER_PORT, source="203.0.113.11") is None
    assert reaches(lab, "m1", str(first.probe_public4), RESPONDER_PORT) is None
    assert reaches(lab, "m1", str(first.probe_source4), RESPONDER_PORT) is None
    assert reaches(lab, "m1", str(first.probe_source6), RESPONDER_PORT) is None


def test_a_missing_source_nat_is_seen_and_nothing_leaks(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        nft(lab, gateway.name, "delete", "element", "inet", "netzwart", "snat4", f"{{ {gateway.probe_source4} }}")
        four, six = run_probes(gateway)
        assert four.ok is False
        assert "Source NAT is missing" in four.sentence
        assert re.search(r"private source that were held back: [3-9]\)", four.sentence)
        assert six.ok


def test_a_missing_route_at_the_uplink_is_seen(lab: Lab, probed_network: factories.Network) -> None:
    for gateway in probed_network.gateways:
        lab.run("uplink", ["ip", "route", "delete", f"{gateway.probe_public4}/32"])
        lab.run("uplink", ["ip", "-6", "route", "delete", f"{str(gateway.probe_source6).removesuffix('2')}/64"])
        four, six = run_probes(gateway)
        assert (four.ok, six.ok) == (False, False)
        assert f"back: none. Is {gateway.probe_public4} routed to {gateway.name}" in four.sentence
        assert f"back: none. Is {gateway.probe_source6} routed to {gateway.name}" in six.sentence


def test_an_answer_by_another_way_proves_nothing(lab: Lab, probed_network: factories.Network) -> None:
    """The probe's packets pass nat-1 without meeting the members' chains."""
    gateway = probed_network.gateways[0]
    lab.run("nat-1", ["nft", "insert", "rule", "inet", "netzwart", "forward", "iifname", "probe0", "accept"])
    lab.run("nat-1", ["nft", "insert", "rule", "inet", "netzwart", "forward", "oifname", "probe0", "accept"])
    for evidence in run_probes(gateway):
        assert evidence.ok is False
        assert "the target answered, but on another path: not all packets were counted here" in evidence.sentence


def test_a_target_that_refuses_is_told_from_a_gateway_that_does(lab: Lab, probed_network: factories.Network) -> None:
    gateway = probed_network.gateways[0]
    probed_network.group.probe_target4, probed_network.group.probe_port = "203.0.113.1", 81  # the uplink itself, where no program listens
    probed_network.group.save()
    gateway.group.refresh_from_db()
    four, _ = run_probes(gateway)
    assert "refused. Packets out: 1, back: 1, so the target refuses" in four.sentence


def test_a_member_cannot_take_the_probes_address(lab: Lab, probed_network: factories.Network) -> None:
    before = counters(lab, "nat-1")
    lab.run("m1", ["ip", "addr", "add", "172.31.254.2/32", "dev", "eth0"])
    assert reaches(lab, "m1", "203.0.113.10", 80, source="172.31.254.2") is None
    after = counters(lab, "nat-1")
    assert after["spoofed"] > before["spoofed"]
    assert after["probe_up4"] == before["probe_up4"]


def test_a_prober_that_is_gone_is_said_so(lab: Lab, probed_network: factories.Network, sockets: Path) -> None:
    (sockets / "probe-1.sock").unlink()
    for evidence in run_probes(probed_network.gateways[0]):
        assert evidence.ok is False
        assert "nat-1 cannot probe: the prober at" in evidence.sentence
    with prober(lab, "nat-1", sockets):
        assert [each.ok for each in run_probes(probed_network.gateways[0])] == [True, True]


def test_a_gateway_without_a_probe_is_not_probed_and_says_why(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    assert run_probes(network.gateways[0]) == [
        ProbeResult(4, None, None, "IPv4: not probed, nat-1 has no probe for it."),
        ProbeResult(6, None, None, "IPv6: not probed, nat-1 has no probe for it."),
    ]


def test_a_ruleset_from_before_the_probe_is_named(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    factories.probes(network)
    assert all(
        "its ruleset has no probe counters for this family yet; deploy." in each.sentence for each in run_probes(network.gateways[0])
    )
    reconcile(network.group)
    assert [each.ok for each in run_probes(network.gateways[0])] == [True, True], run_probes(network.gateways[0])
