"""Source addresses and ports of members as the internet sees them: an own address, a shared one, a block of ports of one, or none."""

import re
import selectors
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from firewall.policy import ForwardSpec, NatMappingSpec, Policy, SharingMode, TransportProtocol
from lab.answer import parse_answer
from lab.connect import NoAnswerError
from lab.datagram import compute_checksum
from lab.lab import Lab
from lab.measure.insert_failed import read_insert_failed
from lab.topology import load_topology
from tests.agent.client import Client
from tests.whole.lab_gateway import GatewayInLab
from tests.whole.system import INTERNET, agent, inside, must_reach, wait_for
from tests.whole.test_cutting import POLICY

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

OWN, SHARED, BLOCK = (IPv4Address(f"198.51.100.{last}") for last in (20, 30, 40))
M1, M2, M3, M4 = (IPv4Address(f"10.16.0.{last}") for last in (10, 11, 12, 13))
FIRST, LAST = 40_000, 40_255
SHARING = replace(
    POLICY,
    addresses=(M1, M2, M3, M4),
    mappings=(
        NatMappingSpec(M1, OWN, SharingMode.OWN),
        NatMappingSpec(M2, SHARED),
        NatMappingSpec(M3, BLOCK, SharingMode.BLOCKS, FIRST, LAST),
    ),
    forwards=(
        ForwardSpec(1, TransportProtocol.TCP, OWN, 8001, M1, 80),
        ForwardSpec(2, TransportProtocol.TCP, SHARED, 8002, M2, 80),
        ForwardSpec(3, TransportProtocol.TCP, BLOCK, FIRST, M3, 80),
    ),
)
AT_ONCE = 50
SILENCE = 3  # seconds without an answer, after which no more are expected
ICMP, GRE, SCTP = 1, 47, 132


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(load_topology()) as running:
        yield running


@dataclass
class AddressedGateway(GatewayInLab):
    """A gateway in the lab that knows the socket of its agent."""

    at: Path = Path()

    def change(self, policy: Policy) -> int:
        """Apply and confirm the policy; return how many flows were cut."""
        return self.apply(policy) + self.confirm(self.at)


@contextmanager
def start_gateway(lab: Lab, policy: Policy) -> Iterator[AddressedGateway]:
    """Run nat-1 with its agent and this policy, confirmed."""
    lab.run("nat-1", ["nft", "flush", "ruleset"])
    lab.run("nat-1", ["conntrack", "-F"])
    with TemporaryDirectory(prefix="nw-") as directory, ExitStack() as stack:
        at = Path(directory) / "nat-1.sock"
        stack.enter_context(agent(lab, "nat-1", at.parent))
        wait_for(lambda: "listening at" in (at.parent / "nat-1.log").read_text())
        made = AddressedGateway(lab, Client(at), stack, at=at)
        made.change(policy)
        yield made
        made.client.close()


@pytest.fixture
def gate(lab: Lab) -> Iterator[AddressedGateway]:
    with start_gateway(lab, SHARING) as made:
        yield made


def read_counter(lab: Lab, name: str) -> int:
    """Return the number of packets of a named counter."""
    found = re.search(r"packets (\d+)", lab.run("nat-1", ["nft", "list", "counter", "inet", "netzwart", name]).stdout)
    assert found
    return int(found[1])


def udp_ports(lab: Lab, node: str, targets: list[int]) -> list[int]:
    """Send a datagram to each of these ports on the internet, each from another source port.

    Returns the source ports that the internet saw, of datagrams that were answered in time.
    """
    seen: list[int] = []
    for start in range(0, len(targets), AT_ONCE):
        seen += _list_answered(lab, node, 10_000 + start, targets[start : start + AT_ONCE])
    return seen


def _list_answered(lab: Lab, node: str, first: int, targets: list[int]) -> list[int]:
    seen: list[int] = []
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        with inside(lab, node):
            sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in targets]
        for source, (port, each) in enumerate(zip(targets, sockets, strict=True), first):
            each.bind(("", source))
            each.connect((INTERNET, port))
            each.send(b"?\n")
            selector.register(each, selectors.EVENT_READ)
        while len(seen) < len(targets) and (answered := selector.select(SILENCE)):
            for ready, _ in answered:
                seen.append(parse_answer(ready.fileobj.recv(4096)).peer_port)  # type: ignore[union-attr]  # a socket
                selector.unregister(ready.fileobj)
    return seen


def test_each_member_leaves_as_his_pool_says(gate: AddressedGateway) -> None:
    for node, public in (("m1", OWN), ("m2", SHARED), ("m3", BLOCK)):
        for protocol in ("tcp", "udp"):
            answer = gate.lab.connect(node, protocol, INTERNET, 80, source_port=5555)
            assert answer.peer_address == str(public)
            if (node, protocol) == ("m1", "udp"):
                assert answer.peer_port == 5555
            if node == "m3":
                assert FIRST <= answer.peer_port <= LAST


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_an_own_address_keeps_every_port(gate: AddressedGateway, protocol: str) -> None:
    for port in range(20_000, 20_020):
        assert gate.lab.connect("m1", protocol, INTERNET, 80, source_port=port).peer_port == port


def test_thousands_of_connections_never_use_a_port_outside_their_block(gate: AddressedGateway) -> None:
    seen = udp_ports(gate.lab, "m3", list(range(1000, 5000)))
    assert len(seen) == 4000
    with inside(gate.lab, "m3"):
        for port in range(1000, 2000):
            with closing(socket.create_connection((INTERNET, port), timeout=5)) as connection:
                seen.append(parse_answer(connection.makefile("rb").readline()).peer_port)
    assert set(seen) <= set(range(FIRST, LAST + 1))
    assert len(set(seen)) > 200
    assert read_counter(gate.lab, "leaked") == 0


@pytest.mark.parametrize("size", [64, 256])
def test_when_a_block_is_used_up_more_connections_fail_counted_and_none_leaves_otherwise(lab: Lab, size: int) -> None:
    narrow = replace(SHARING, mappings=(NatMappingSpec(M3, BLOCK, SharingMode.BLOCKS, FIRST, FIRST + size - 1),), forwards=())
    with start_gateway(lab, narrow):
        before = read_insert_failed(lab, "nat-1")
        seen = udp_ports(lab, "m3", [80] * (size + 50))
        assert len(seen) == len(set(seen)) <= size
        assert len(seen) > 0.95 * size
        assert set(seen) <= set(range(FIRST, FIRST + size))
        assert read_insert_failed(lab, "nat-1") - before == size + 50 - len(seen)
        assert udp_ports(lab, "m3", [81]) != []
        assert read_counter(lab, "leaked") == 0


def _echo(identifier: int) -> bytes:
    body = struct.pack("!BBHHH", 8, 0, 0, identifier, 1)
    return body[:2] + struct.pack("!H", compute_checksum(body)) + body[4:]


def test_the_identifiers_of_pings_stay_within_the_block(gate: AddressedGateway) -> None:
    answered: set[int] = set()
    with inside(gate.lab, "m3"), closing(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)) as raw:
        raw.settimeout(3)
        for identifier in range(1, 101):
            raw.sendto(_echo(identifier), (INTERNET, 0))
        while len(answered) < 100:
            packet = raw.recv(2048)
            if packet[20] == 0:
                answered.add(struct.unpack_from("!H", packet, 24)[0])
    assert answered == set(range(1, 101))
    flows = gate.lab.run("nat-1", ["conntrack", "-L", "-p", "icmp"]).stdout.splitlines()
    left_with = [int(re.findall(r"id=(\d+)", line)[1]) for line in flows if f"src={M3} " in line]
    assert len(set(left_with)) == 100
    assert set(left_with) <= set(range(FIRST, LAST + 1))


def _crc32c(data: bytes) -> int:
    """Return SCTP's checksum: RFC 9260, appendix A."""
    value = 0xFFFFFFFF
    for octet in data:
        value ^= octet
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def _sctp() -> bytes:
    """Return the INIT chunk of an association."""
    packet = struct.pack("!HHII", 5555, 80, 0, 0) + struct.pack("!BBHIIHHI", 1, 0, 20, 1, 65536, 1, 1, 1)
    return packet[:8] + struct.pack("<I", _crc32c(packet)) + packet[12:]


@pytest.mark.parametrize(("protocol", "packet"), [(GRE, bytes(24)), (SCTP, _sctp())])
def test_what_a_block_has_no_ports_for_is_refused_and_the_sender_told(gate: AddressedGateway, protocol: int, packet: bytes) -> None:
    def send(node: str) -> bytes:
        """Send the packet and return type and code of the ICMP error that comes back."""
        with inside(gate.lab, node), ExitStack() as stack:
            out, errors = (stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_RAW, each)) for each in (protocol, ICMP))
            errors.settimeout(5)
            out.sendto(packet, (INTERNET, 0))
            return errors.recv(2048)[20:22]

    before = read_counter(gate.lab, "portless")
    assert send("m3") == b"\x03\x0d"  # destination unreachable, administratively prohibited
    assert read_counter(gate.lab, "portless") == before + 1
    if protocol == GRE:
        assert send("m1") == b"\x03\x02"  # the packet arrived: the server lacks this protocol
    assert read_counter(gate.lab, "leaked") == 0


def test_who_has_no_public_address_is_told_so_at_once_and_reaches_what_is_inside(gate: AddressedGateway) -> None:
    for protocol in ("tcp", "udp"):
        with pytest.raises(NoAnswerError) as refused:
            gate.lab.connect("m4", protocol, INTERNET, 80)
        assert "timed out" not in str(refused.value)
    answer = gate.lab.connect("m4", "tcp", str(OWN), 8001)
    assert (answer.node, answer.peer_address) == ("m1", "10.0.0.1")  # the gateway's own address
    assert read_counter(gate.lab, "unmapped") == 2
    assert read_counter(gate.lab, "leaked") == 0
    must_reach(gate.lab, "m4", str(M1), 80)
    assert gate.lab.run("m4", ["ping", "-c", "1", "-W", "2", "10.0.0.1"]).returncode == 0


@pytest.mark.parametrize("node", ["m1", "m2", "m3"])
def test_forwards_are_reached_from_inside_whoever_shares_what(gate: AddressedGateway, node: str) -> None:
    come = {"m1": OWN, "m2": SHARED, "m3": BLOCK}[node]
    for public, port, to in ((OWN, 8001, "m1"), (SHARED, 8002, "m2"), (BLOCK, FIRST, "m3")):
        answer = gate.lab.connect(node, "tcp", str(public), port)
        assert (answer.node, answer.peer_address) == (to, str(come))
        if node == "m3":
            assert FIRST <= answer.peer_port <= LAST


def test_a_forward_within_the_own_block_is_reached_while_the_block_is_in_use(gate: AddressedGateway) -> None:
    udp_ports(gate.lab, "m3", list(range(3000, 3256)))
    assert gate.lab.connect("internet", "tcp", str(BLOCK), FIRST).node == "m3"


MOVES = [
    (NatMappingSpec(M1, OWN, SharingMode.SHARED), True),
    (NatMappingSpec(M1, OWN, SharingMode.OWN), True),
    (NatMappingSpec(M1, OWN, SharingMode.BLOCKS, 1024, 1087), False),
    (NatMappingSpec(M1, BLOCK, SharingMode.BLOCKS, 50_000, 50_063), False),
    (NatMappingSpec(M1, SHARED, SharingMode.SHARED), False),
]


@pytest.mark.parametrize(("moved", "goes_on"), MOVES)
def test_a_move_to_another_kind_of_pool_cuts_the_streams_that_no_longer_fit_and_no_others(
    lab: Lab, moved: NatMappingSpec, *, goes_on: bool
) -> None:
    start = replace(SHARING, mappings=(NatMappingSpec(M1, OWN, SharingMode.BLOCKS, 60_000, 60_063), *SHARING.mappings[1:]), forwards=())
    with start_gateway(lab, start) as gate:
        stream, other = gate.talk("m1", INTERNET, 80), gate.talk("m2", INTERNET, 80)
        gate.change(replace(start, mappings=(moved, *start.mappings[1:])))
        assert (stream(), other()) == ("alive" if goes_on else "cut", "alive")
        answer = lab.connect("m1", "tcp", INTERNET, 80)
        assert answer.peer_address == str(moved.public)
        if moved.sharing is SharingMode.BLOCKS:
            assert moved.first_port <= answer.peer_port <= moved.last_port
        assert read_counter(lab, "leaked") == 0


def test_everybody_moves_to_another_kind_in_one_change_while_streams_run(lab: Lab) -> None:
    members = (M1, M2, M3, M4)
    together = replace(SHARING, mappings=tuple(NatMappingSpec(each, SHARED) for each in members), forwards=())
    blocks = tuple(NatMappingSpec(each, SHARED, SharingMode.BLOCKS, 1024 * n, 1024 * n + 1023) for n, each in enumerate(members, 32))
    with start_gateway(lab, together) as gate:
        streams = [gate.talk(node, INTERNET, 80) for node in ("m1", "m2", "m3", "m4")]
        gate.change(replace(together, mappings=blocks))
        assert "cut" in [stream() for stream in streams]  # except streams whose port happens to be in their block
        for n, node in enumerate(("m1", "m2", "m3", "m4"), 32):
            assert gate.lab.connect(node, "tcp", INTERNET, 80).peer_port // 1024 == n
        gate.change(together)
        assert gate.lab.connect("m1", "tcp", INTERNET, 80).peer_address == str(SHARED)
        assert read_counter(lab, "leaked") == 0
