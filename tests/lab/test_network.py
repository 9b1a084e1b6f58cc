"""The network after start: which nodes reach each other, and which answer."""

import sys

import pytest

from lab.connect import NoAnswerError
from lab.lab import Lab
from lab.measure.runs import start_sniffer
from lab.topology import Topology

pytestmark = pytest.mark.kernel


def test_every_member_and_server_reaches_its_gateways(shared_lab: Lab, topology: Topology) -> None:
    for node in topology.nodes:
        for route in node.routes:
            if route.via is not None:
                shared_lab.run(node.name, ["ping", "-c", "1", "-W", "2", str(route.via)])


def test_the_portal_reaches_both_gateways_over_the_management_network(shared_lab: Lab, topology: Topology) -> None:
    for gateway in topology.list_by_role("gateway"):
        (address,) = gateway.list_ip_addresses(4, "management")
        shared_lab.run("portal", ["ping", "-c", "1", "-W", "2", str(address)])


def test_the_gateways_reach_each_other_over_the_sync_cable(shared_lab: Lab, topology: Topology) -> None:
    (address,) = topology.get_node("nat-2").list_ip_addresses(4, "sync")
    shared_lab.run("nat-1", ["ping", "-c", "1", "-W", "2", "-I", "sync0", str(address)])


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("version", [4, 6])
def test_a_member_answers_another_on_any_port_and_tells_how_it_was_reached(
    shared_lab: Lab, topology: Topology, protocol: str, version: int
) -> None:
    (one,), (other,) = topology.get_node("m1").list_ip_addresses(version), topology.get_node("m2").list_ip_addresses(version)
    for port in (7, 22, 65535):
        answer = shared_lab.connect("m1", protocol, str(other), port, source_port=4000 + port // 2)
        assert answer == ("m2", protocol, str(other), port, str(one), 4000 + port // 2)


def test_an_answer_that_finds_no_client_any_more_is_not_answered(shared_lab: Lab, topology: Topology) -> None:
    one, other = topology.get_node("m1").ipv4, topology.get_node("m2").ipv4
    send = f"from lab.datagram import send_from; send_from(({one!r}, 4000), ({other!r}, 53), b'?')"  # and no socket waits for the answer
    with start_sniffer(shared_lab, "m2", "eth0", f"{one}/32") as sniffer:
        shared_lab.run("m1", [sys.executable, "-c", send])
        shared_lab.connect("m3", "udp", other, 53)
        assert sniffer.stop().leaked == 1


def test_tcp_echoes_lines_after_the_answer(shared_lab: Lab, topology: Topology) -> None:
    talk = f"import socket; s = socket.create_connection(('{topology.get_node('m2').ipv4}', 80)); f = s.makefile('rw')"
    listen = "f.write('one\\ntwo\\n'); f.flush(); print([f.readline() for _ in range(3)][1:])"
    assert shared_lab.run("m1", ["python3", "-c", f"{talk}; {listen}"]).stdout == "['one\\n', 'two\\n']\n"


def test_every_address_of_the_internet_server_answers_and_can_be_a_source(shared_lab: Lab, topology: Topology) -> None:
    internet, uplink = topology.get_node("internet"), topology.get_node("uplink")
    for host in (*internet.list_ip_addresses(4), *internet.list_ip_addresses(6)):
        assert shared_lab.connect("uplink", "udp", str(host), 53).address == str(host)
        with pytest.raises(NoAnswerError, match="refused"):
            shared_lab.connect("internet", "tcp", uplink.ipv4 if host.version == 4 else uplink.ipv6, 80, source=str(host))


def test_a_program_that_listens_is_not_hidden_by_the_answers(shared_lab: Lab, topology: Topology) -> None:
    listen = "import socket; s = socket.create_server(('', 8080)); print('ready', flush=True); s.accept()[0].sendall(b'mine')"
    with shared_lab.popen("m2", ["python3", "-c", listen]) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        with pytest.raises(NoAnswerError, match="closed without an answer"):
            shared_lab.connect("m1", "tcp", topology.get_node("m2").ipv4, 8080)


def test_a_node_without_a_server_refuses(shared_lab: Lab, topology: Topology) -> None:
    for protocol in ("tcp", "udp"):
        with pytest.raises(NoAnswerError, match="refused"):
            shared_lab.connect("m1", protocol, str(topology.get_node("nat-1").list_ip_addresses(4, "lan")[0]), 80)


def test_an_unused_public_address_dies_at_the_gateway_silently(shared_lab: Lab, topology: Topology) -> None:
    with pytest.raises(NoAnswerError, match="timed out"):
        shared_lab.connect("internet", "tcp", str(topology.pools.public[77]), 80, timeout=0.3)


def test_without_a_ruleset_ipv6_is_forwarded_both_ways(shared_lab: Lab, topology: Topology) -> None:
    member, internet = topology.get_node("m1"), topology.get_node("internet")
    assert shared_lab.connect("m1", "tcp", internet.ipv6, 443).peer_address == member.ipv6
    assert shared_lab.connect("internet", "tcp", member.ipv6, 443).peer_address == internet.ipv6


def test_without_nat_the_sniffer_sees_private_sources_leave(shared_lab: Lab, topology: Topology) -> None:
    with start_sniffer(shared_lab, "uplink", "transit") as sniffer:
        with pytest.raises(NoAnswerError, match="timed out"):
            shared_lab.connect("m1", "udp", topology.get_node("internet").ipv4, 53, timeout=0.3)
        sniffed = sniffer.stop()
    assert (sniffed.leaked, sniffed.dropped) == (1, 0)
    assert sniffed.examples == (f"{topology.get_node('m1').ipv4} -> {topology.get_node('internet').ipv4}",)


def test_each_family_leaves_through_its_own_gateway(shared_lab: Lab, topology: Topology) -> None:
    for way, host in (("nat-1", topology.get_node("internet").ipv4), ("nat-2", topology.get_node("internet").ipv6)):
        with start_sniffer(shared_lab, way, "lan0", f"{topology.pools.private}", f"{topology.pools.ipv6}") as sniffer:
            shared_lab.run("m1", ["ping", "-c", "1", "-W", "0.2", host], check=False)
            assert f"-> {host}" in "".join(sniffer.stop().examples)


def test_gateways_do_not_pick_up_connections_they_have_not_seen_begin(shared_lab: Lab, topology: Topology) -> None:
    for gateway in topology.list_by_role("gateway"):
        assert shared_lab.run(gateway.name, ["cat", "/proc/sys/net/netfilter/nf_conntrack_tcp_loose"]).stdout == "0\n"


def test_offloads_are_off_on_every_card(shared_lab: Lab) -> None:
    assert shared_lab.shortfalls == ()
