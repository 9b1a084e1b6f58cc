"""The ruleset's promises, shown with packets: each test fails without the rule that keeps the promise."""

import pytest

from apps.bans.models import Ban, BanList
from apps.deployments.services import reconcile
from apps.gateways.services import collect_counters
from apps.nat.models import NatMapping
from apps.nat.services import add_forward
from apps.traffic.selectors import get_all_time_usage
from lab.lab import Lab
from tests import factories
from tests.whole.packets import FIN, SYN, counter, send, send_tcp6, watching
from tests.whole.system import INTERNET, must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FORWARD = ("198.51.100.7", 5000)
HELD_BY_NOBODY = "10.16.0.99"
M1_BY_IPV6 = "2001:db8:a0:10::10"


def forward_port(network: factories.Network, host: str = "m1", protocol: str = "udp", port: int = 5000) -> None:
    holding = network.residents[host].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol=protocol, public_port=port, private_port=port, by=network.admin)


def test_a_private_source_from_outside_reaches_no_forward(lab: Lab, network: factories.Network) -> None:
    forward_port(network)
    reconcile(network.group)
    with watching(lab, "m1", 5000) as until:
        send(lab, "internet", ("10.16.0.11", 4000), FORWARD, b"spoofed")
        send(lab, "internet", (INTERNET, 4001), FORWARD, b"honest")
        assert not [each for each in until(b"honest") if b"spoofed" in each.packet]
    assert counter(lab, "nat-1", "spoofed") == 1


def test_a_source_that_nobody_holds_gets_nowhere_and_is_counted(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    with watching(lab, "internet", 4999) as until:
        send(lab, "m1", (HELD_BY_NOBODY, 4000), (INTERNET, 4999), b"spoofed")
        send(lab, "m1", ("10.16.0.10", 4001), (INTERNET, 4999), b"honest")
        assert not [each for each in until(b"honest") if b"spoofed" in each.packet]
    assert counter(lab, "nat-1", "spoofed") == 1


def test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut(lab: Lab, network: factories.Network) -> None:
    """NAT chains see only the first packet of a connection, so a filter behind them must stop the rest."""
    reconcile(network.group)
    NatMapping.objects.filter(holding=network.residents["m1"].holding).delete()
    reconcile(network.group)
    lab.run("uplink", ["ip", "route", "add", "10.16.0.0/16", "via", "192.0.2.3"])  # so that the answer comes back, as it must not
    lab.run("nat-1", ["nft", "flush", "chain", "inet", "netzwart", "fail_closed"])
    lab.run("nat-1", ["nft", "insert", "rule", "inet", "netzwart", "forward", "accept"])
    with watching(lab, "internet", 4999) as until:
        send(lab, "m1", ("10.16.0.10", 4000), (INTERNET, 4999), b"leaking")
        until(b"leaking")
        send(lab, "internet", (INTERNET, 4999), ("10.16.0.10", 4000), b"answer")
        wait_for(lambda: "[UNREPLIED]" not in lab.run("nat-1", ["conntrack", "-L", "-s", "10.16.0.10"]).stdout)
        reconcile(network.group, force=True)
        send(lab, "m1", ("10.16.0.10", 4000), (INTERNET, 4999), b"stopped")
        send(lab, "m3", ("10.16.0.12", 4001), (INTERNET, 4999), b"honest")
        assert not [each for each in until(b"honest") if b"stopped" in each.packet]
    assert counter(lab, "nat-1", "leaked") >= 1


def test_an_invalid_packet_reaches_nobody(lab: Lab, network: factories.Network) -> None:
    """The chain `new` does not see the packet, and behind it the destination alone would admit it."""
    reconcile(network.group)
    must_reach(lab, "m1", "2001:db8:cafe::10", 80)
    with watching(lab, "m1", 80) as until:
        send_tcp6(lab, "internet", (4000, 80), M1_BY_IPV6, SYN | FIN, b"invalid")
        lab.run("internet", ["ping", "-6", "-c", "1", "-W", "2", "-p", b"honest".hex(), M1_BY_IPV6])
        assert not [each for each in until(b"honest") if b"invalid" in each.packet]


def test_members_reach_a_forward_from_inside_even_their_own(lab: Lab, network: factories.Network) -> None:
    forward_port(network, "m1", "tcp", 8080)
    reconcile(network.group)
    for node in ("m2", "m1"):
        answer = must_reach(lab, node, "198.51.100.7", 8080)
        assert answer.node == "m1"


def test_what_goes_each_way_is_counted_to_the_octet(lab: Lab, network: factories.Network) -> None:
    member, internet = ("10.16.0.12", 4001), (INTERNET, 4999)
    leaves = (str(network.residents["m3"].mapping.public), 4001)
    reconcile(network.group)
    with watching(lab, "m3", 4001) as until_m3, watching(lab, "internet", 4999) as until_internet:
        for number in range(5):
            send(lab, "m3", member, internet, b"x" * 100 + b"up %d" % number)
        [first, *_] = [each.packet for each in until_internet(b"up 4") if b"up 0" in each.packet]
        came_from = (leaves[0], int.from_bytes(first[20:22]))
        for number in range(3):
            send(lab, "internet", internet, came_from, b"x" * 300 + b"down %d" % number)
        until_m3(b"down 2")
    for gateway in network.gateways:
        collect_counters(gateway)
    total = get_all_time_usage(network.residents["m3"].member)
    assert (total.up, total.down) == (5 * (28 + 104), 3 * (28 + 306))


def test_nobody_connects_to_a_banned_host(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    must_reach(lab, "m1", INTERNET, 80)
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.0/28")
    reconcile(network.group)
    assert reaches(lab, "m1", INTERNET, 80) is None
