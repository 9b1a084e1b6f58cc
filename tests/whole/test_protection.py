"""A group's protection, shown with packets: what it drops and what it lets pass."""

import socket
import struct
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from apps.deployments.services import reconcile
from apps.gateways.group_settings import change_protection, get_protection
from apps.nat.services import add_forward
from lab.connect import NoAnswerError
from lab.datagram import compute_checksum
from lab.lab import Lab
from tests import factories
from tests.whole.packets import counter, send, watching
from tests.whole.system import INTERNET, inside, must_reach, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

OTHER_HOST = "203.0.113.11"
INTERNET6 = "2001:db8:cafe::10"
FORWARD = ("198.51.100.7", 5000)
ROUTER = "192.0.2.1"  # the provider's router, on the gateways' uplink
M1 = "10.16.0.10"


def save_protection(network: factories.Network, **changes: Any) -> None:
    """Save these settings, and deploy them."""
    given: dict[str, Any] = {"clamp_mss": False, "bogons": False, "own": [], "bgp_peers": [], "ospf_peers": []}
    given |= {"ftp_ports": [], "sip_ports": []}
    listed: dict[str, Callable[[str], object]] = {"own": ip_network, "bgp_peers": ip_address, "ospf_peers": ip_address}
    for name, values in changes.items():
        given[name] = [listed[name](each) for each in values] if name in listed else values
    change_protection(group=network.group, version=get_protection(network.group).version, by=network.admin, **given)
    reconcile(network.group)


def forward_port(network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="udp", public_port=5000, private_port=5000, by=network.admin)


def why(lab: Lab, node: str, host: str, port: int) -> str:
    with pytest.raises(NoAnswerError) as said:
        lab.connect(node, "tcp", host, port, timeout=1.0)
    return str(said.value)


def test_a_bogon_reaches_no_forward_and_what_is_our_own_does(lab: Lab, network: factories.Network) -> None:
    forward_port(network)
    save_protection(network, bogons=True, own=[f"{INTERNET}/32"])
    with watching(lab, "m1", 5000) as until:
        send(lab, "internet", (OTHER_HOST, 4000), FORWARD, b"bogon")
        send(lab, "internet", (INTERNET, 4001), FORWARD, b"honest")
        assert not [each for each in until(b"honest") if b"bogon" in each.packet]
    assert counter(lab, "nat-1", "bogons_from") == 1


def test_a_member_who_connects_to_a_bogon_is_told_at_once(lab: Lab, network: factories.Network) -> None:
    save_protection(network, bogons=True, own=[f"{INTERNET}/32"])
    must_reach(lab, "m1", INTERNET, 80)
    assert "timed out" not in why(lab, "m1", OTHER_HOST, 80)
    assert "timed out" not in why(lab, "m1", INTERNET6, 80)
    assert (counter(lab, "nat-1", "bogons_to"), counter(lab, "nat-2", "bogons_to")) == (1, 1)
    save_protection(network, bogons=True, own=["203.0.113.0/24", "2001:db8::/32"])
    must_reach(lab, "m1", OTHER_HOST, 80)
    must_reach(lab, "m1", INTERNET6, 80)


def test_nobody_joins_from_outside_a_connection_that_two_members_have(lab: Lab, network: factories.Network) -> None:
    """The first packet was allowed, and connection tracking does not check by which interface the next one arrives."""
    forward_port(network)
    save_protection(network)
    must_reach(lab, "m2", *FORWARD, "udp", source_port=4000)
    with watching(lab, "m1", 5000) as until:
        send(lab, "internet", ("10.16.0.11", 4000), FORWARD, b"joins while nobody forbids it")
        until(b"joins while nobody forbids it")
        save_protection(network, bogons=True, own=["203.0.113.0/24"])
        send(lab, "internet", ("10.16.0.11", 4000), FORWARD, b"joined")
        send(lab, "internet", (INTERNET, 4001), FORWARD, b"honest")
        assert not [each for each in until(b"honest") if b"joined" in each.packet]
    assert counter(lab, "nat-1", "spoofed") == 1


def test_only_a_listed_router_speaks_bgp_to_a_gateway(lab: Lab, network: factories.Network) -> None:
    save_protection(network)
    assert why(lab, "uplink", "192.0.2.3", 179) == "timed out"
    save_protection(network, bgp_peers=[ROUTER])
    assert why(lab, "uplink", "192.0.2.3", 179) == "refused"
    assert why(lab, "uplink", "192.0.2.3", 22) == "timed out"
    assert why(lab, "internet", "192.0.2.3", 179) == "timed out"


def test_only_a_listed_router_speaks_ospf_to_a_gateway(lab: Lab, network: factories.Network) -> None:
    save_protection(network)
    assert not hears_ospf(lab)
    save_protection(network, ospf_peers=[ROUTER])
    assert hears_ospf(lab)


def hears_ospf(lab: Lab) -> bool:
    """Return whether nat-1 receives OSPF packets from the router."""
    with inside(lab, "nat-1"):
        hears = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
    with inside(lab, "uplink"):
        says = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
    with hears, says:
        hears.settimeout(1)
        says.sendto(b"hello", ("192.0.2.3", 0))
        try:
            return hears.recv(100).endswith(b"hello")
        except TimeoutError:
            return False


def read_offered_mss(lab: Lab, port: int) -> int:
    """Return the maximum segment size in m1's SYN when it arrives on the internet."""
    with watching(lab, "internet", 4999) as until:
        reaches(lab, "m1", INTERNET, port)
        send(lab, "m1", (M1, 4001), (INTERNET, 4999), b"done")
        packets = [each.packet for each in until(b"done") if not each.sent]
    syn, *_again = [each for each in packets if each[9] == 6 and int.from_bytes(each[22:24]) == port and each[33] & 0x3F == 2]
    kind, length, size = struct.unpack("!BBH", syn[40:44])
    assert (kind, length) == (2, 4)  # RFC 9293, section 3.2: Linux sends this option first
    return int(size)


def test_segments_are_clamped_to_what_the_uplink_takes(lab: Lab, network: factories.Network) -> None:
    lab.run("nat-1", ["ip", "link", "set", "wan0", "mtu", "1400"])
    save_protection(network)
    assert read_offered_mss(lab, 8001) == 1460
    save_protection(network, clamp_mss=True)
    assert read_offered_mss(lab, 8002) == 1360


def icmp_error(lab: Lab, node: str, quoted: tuple[tuple[str, int], tuple[str, int]], kind: tuple[int, int, int], mark: bytes) -> None:
    """Send an ICMP error (RFC 792) to the quoted datagram's sender; kind: type, code and the last 32 bits of its header."""
    (source, source_port), (target, target_port) = quoted
    data = struct.pack("!HHHH", source_port, target_port, 8 + len(mark), 0) + mark
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), 1, 0, 64, 17, 0, socket.inet_aton(source), socket.inet_aton(target))
    header = header[:10] + struct.pack("!H", compute_checksum(header)) + header[12:]
    message = struct.pack("!BBHI", kind[0], kind[1], 0, kind[2]) + header + data
    message = message[:2] + struct.pack("!H", compute_checksum(message)) + message[4:]
    with inside(lab, node), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.sendto(message, (source, 0))


@pytest.mark.parametrize("strict", [False, True])
def test_icmp_errors_of_a_connection_reach_the_member_as_his_and_forged_ones_do_not(
    lab: Lab, network: factories.Network, strict: bool
) -> None:
    save_protection(network, bogons=strict, own=["203.0.113.0/24", "192.0.2.0/24"])
    target = (INTERNET, 4999)
    with watching(lab, "internet", 4999) as until_internet, watching(lab, "m1", 4001) as until_m1:
        send(lab, "m1", (M1, 4001), target, b"out")
        left = until_internet(b"out")[-1].packet
        public = (socket.inet_ntoa(left[12:16]), int.from_bytes(left[20:22]))
        assert public[0] == "198.51.100.7"
        icmp_error(lab, "internet", (public, (INTERNET, 4998)), (3, 4, 1300), b"forged")
        icmp_error(lab, "internet", (public, target), (3, 4, 1300), b"too big")
        icmp_error(lab, "uplink", (public, target), (11, 0, 0), b"exceeded")
        seen = until_m1(b"exceeded")
    assert not [each for each in seen if b"forged" in each.packet]
    for mark, kind, sender in ((b"too big", (3, 4), INTERNET), (b"exceeded", (11, 0), ROUTER)):
        [packet] = [each.packet for each in seen if mark in each.packet and not each.sent]
        assert (socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])) == (sender, M1)
        assert (packet[20], packet[21]) == kind
        inner = packet[28:]
        assert (socket.inet_ntoa(inner[12:16]), int.from_bytes(inner[20:22])) == (M1, 4001)
        assert (socket.inet_ntoa(inner[16:20]), int.from_bytes(inner[22:24])) == target


def calls_back(lab: Lab, port: int) -> bool:
    """Return whether a server on the internet can connect to the port that m1 announced in active FTP (RFC 959, "PORT")."""
    with inside(lab, "internet"):
        server = socket.create_server((INTERNET, port))
    with inside(lab, "m1"):
        data = socket.create_server((M1, 4020))
        control = socket.create_connection((INTERNET, port), timeout=5)
    with server, data, control:
        talk, _peer = server.accept()
        with talk:
            talk.settimeout(5)
            control.sendall(b"USER m1\r\n")  # the kernel's helper reads from the second line on
            talk.recv(100)
            control.sendall(b"PORT 10,16,0,10,%d,%d\r\n" % divmod(4020, 256))
            *address, high, low = map(int, talk.recv(100).removeprefix(b"PORT ").split(b","))
            with inside(lab, "internet"):
                try:
                    with socket.create_connection((".".join(map(str, address)), high * 256 + low), timeout=1):
                        return True
                except OSError:
                    return False


def test_active_ftp_works_where_it_is_read_along_and_nowhere_else(lab: Lab, network: factories.Network) -> None:
    plain = 'table inet look { ct helper ftp { type "ftp" protocol tcp; }; }'
    if lab.run("m4", ["nft", plain], check=False).returncode:
        pytest.skip("this kernel has no FTP helper (nf_conntrack_ftp)")
    save_protection(network, ftp_ports=[2121])
    assert calls_back(lab, 2121)
    assert not calls_back(lab, 2122)
    save_protection(network)
    assert "helper" not in lab.run("nat-1", ["nft", "list", "ruleset"]).stdout
    assert not calls_back(lab, 2121)
