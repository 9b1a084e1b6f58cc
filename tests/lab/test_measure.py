"""The measuring tools, through real NAT: a short handwritten ruleset on both gateways."""

import pytest

from lab.connect import NoAnswerError
from lab.lab import Lab
from lab.measure.runs import MeasuringError, run_tcp_transfer, run_udp_stream, start_sniffer
from lab.topology import Topology

pytestmark = pytest.mark.kernel

FORWARDED, PORT = 8443, 443
RULESET = """
table inet by_hand {{
  counter up {{ }}
  chain dstnat {{
    type nat hook prerouting priority dstnat; policy accept;
    iifname "wan0" ip daddr {public} meta l4proto {{ tcp, udp }} th dport {forwarded} dnat ip to {member}:{port}
  }}
  chain forward {{
    type filter hook forward priority filter; policy drop;
    iifname "lan0" ip saddr {member} udp dport 5000 counter name up
    ct state established accept
    iifname "lan0" oifname "wan0" accept
    ct status dnat accept
  }}
  chain srcnat {{
    type nat hook postrouting priority srcnat; policy accept;
    oifname "wan0" ip saddr {pool} snat ip to {public}
  }}
}}
"""


@pytest.fixture(scope="module")
def public(topology: Topology) -> str:
    return str(topology.pools.public[10])


@pytest.fixture(scope="module")
def natting_lab(shared_lab: Lab, topology: Topology, public: str) -> Lab:
    member = topology.get_node("m1").ipv4
    text = RULESET.format(public=public, member=member, pool=topology.pools.private, forwarded=FORWARDED, port=PORT)
    for gateway in topology.list_by_role("gateway"):
        shared_lab.run(gateway.name, ["nft", "-f", "-"], text=text)
    return shared_lab


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_member_appears_on_the_internet_under_the_public_address(
    natting_lab: Lab, topology: Topology, public: str, protocol: str
) -> None:
    answer = natting_lab.connect("m1", protocol, topology.get_node("internet").ipv4, 443)
    assert (answer.node, answer.peer_address) == ("internet", public)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_member_appears_on_the_ipv6_internet_as_himself_and_is_not_reached_from_there(
    natting_lab: Lab, topology: Topology, protocol: str
) -> None:
    member, internet = topology.get_node("m1").ipv6, topology.get_node("internet").ipv6
    assert natting_lab.connect("m1", protocol, internet, 443).peer_address == member
    with pytest.raises(NoAnswerError, match="timed out"):
        natting_lab.connect("internet", protocol, member, 443, timeout=0.3)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_forward_reaches_the_member(natting_lab: Lab, topology: Topology, public: str, protocol: str) -> None:
    source = str(topology.get_node("internet").list_ip_addresses(4)[2])
    answer = natting_lab.connect("internet", protocol, public, FORWARDED, source=source)
    assert (answer.node, answer.address, answer.port) == ("m1", topology.get_node("m1").ipv4, PORT)
    assert answer.peer_address == source


def test_a_udp_stream_through_nat_is_counted_exactly_and_so_are_its_bytes(natting_lab: Lab, topology: Topology, public: str) -> None:
    sent, received = run_udp_stream(
        natting_lab, "m1", "internet", topology.get_node("internet").ipv4, 5000, rate=1000, seconds=0.2, size=200, idle=30
    )
    assert (sent.sent, sent.failed) == (200, 0)
    assert (received.received, received.missing, received.duplicate, received.reordered) == (200, 0, 0, 0)
    assert received.peer == public
    counted = natting_lab.run("nat-1", ["nft", "list", "counter", "inet", "by_hand", "up"]).stdout
    assert f"packets 200 bytes {200 * (200 + 28)}" in counted  # with the IP and UDP headers


def test_a_udp_stream_reaches_a_member_through_a_forward(natting_lab: Lab, public: str) -> None:
    _, received = run_udp_stream(natting_lab, "internet", "m1", public, FORWARDED, arrives_at=PORT, rate=1000, seconds=0.1, idle=30)
    assert (received.received, received.missing) == (100, 0)


def test_packets_that_the_gateway_drops_are_reported_as_missing(natting_lab: Lab, topology: Topology) -> None:
    natting_lab.run("nat-1", ["nft", "insert rule inet by_hand forward udp dport 5001 numgen inc mod 10 9 drop"])
    _, received = run_udp_stream(natting_lab, "m1", "internet", topology.get_node("internet").ipv4, 5001, rate=1000, seconds=0.1)
    assert (received.received, received.missing) == (90, 10)


@pytest.mark.parametrize("version", [4, 6])
def test_a_tcp_transfer_arrives_intact(natting_lab: Lab, topology: Topology, version: int) -> None:
    host = str(topology.get_node("internet").list_ip_addresses(version)[0])
    transfer = run_tcp_transfer(natting_lab, "m1", "internet", host, 5000, octets=3_000_001)
    assert transfer.is_intact
    assert transfer.arrived.octets == 3_000_001


def test_a_tcp_transfer_reaches_a_member_through_a_forward_at_its_rate(natting_lab: Lab, public: str) -> None:
    transfer = run_tcp_transfer(natting_lab, "internet", "m1", public, FORWARDED, arrives_at=PORT, octets=500_000, rate=2_000_000)
    assert transfer.is_intact
    assert transfer.seconds > 0.2


def test_lost_segments_show_as_retransmits(natting_lab: Lab, topology: Topology) -> None:
    natting_lab.run("nat-1", ["nft", "insert rule inet by_hand forward tcp dport 5001 numgen inc mod 50 40 drop"])
    transfer = run_tcp_transfer(natting_lab, "m1", "internet", topology.get_node("internet").ipv4, 5001, octets=300_000)
    assert transfer.is_intact
    assert transfer.retransmits > 0


def test_with_nat_nothing_private_reaches_the_uplink(natting_lab: Lab, topology: Topology) -> None:
    with start_sniffer(natting_lab, "uplink", "transit") as sniffer:
        run_tcp_transfer(natting_lab, "m1", "internet", topology.get_node("internet").ipv4, 5000, octets=200_000)
        sniffed = sniffer.stop()
    assert sniffed.seen > 100
    assert (sniffed.leaked, sniffed.dropped) == (0, 0)


def test_a_tool_that_cannot_begin_says_why(shared_lab: Lab) -> None:
    with pytest.raises(MeasuringError, match="No such device"), start_sniffer(shared_lab, "uplink", "eth7"):
        pass
