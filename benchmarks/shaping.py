"""shape: rate limits: the TCP rates of a limited member and of a neighbour, and the cost of a packet with many members limited.

Each method of limiting has a gateway of its own: a network namespace between the members' and the internet's, with the real
ruleset for 24,000 members. A pinned sender sends from 1,000 members through one gateway after the other, round by round. The
measure is the sender's CPU time, which includes the kernel's whole path through the gateway; ratios are within a round. Needs
root.
"""

import os
import resource
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from statistics import median
from threading import Thread

from benchmarks.figures import Figure
from firewall.compile import compile_policy
from firewall.policy import GatewaySpec, Interfaces, Management, NatMappingSpec, Policy, RateLimitSpec
from firewall.render import render

MEMBERS, ACTIVE, ROUNDS, PACKETS = 24_000, 1_000, 15, 20_000
RATE = 625_000  # octets per second: 5 Mbit/s
STEADY = 6_250_000  # octets per second: 50 Mbit/s
SO_MAX_PACING_RATE = 47  # socket(7); Python has no name for it
UNREACHED = 10**9  # octets per second: faster than any sender here
FIRST = IPv4Address("10.16.0.1")
TARGET = "203.0.113.{}"
SETTLE, MEASURE = 3.0, 12.0  # seconds
DISCARD = 9


@dataclass(frozen=True)
class LimitingMethod:
    """Method of limiting members on one gateway: policing in the ruleset, or classes of HTB beside it."""

    name: str
    policed: int = 0
    rate: int = UNREACHED
    classes: int = 0
    filters: bool = False


PLAIN = LimitingMethod("plain")
COSTS = (
    PLAIN,
    LimitingMethod("police_1k", 1000),
    LimitingMethod("police_24k", MEMBERS),
    LimitingMethod("htb_1k", classes=1000),
    LimitingMethod("fw_24k", classes=MEMBERS, filters=True),
)
GOALS = {"police_24k": "<= 1.45", "htb_1k": "<= 1.5"}
CLASSES = (LimitingMethod("class", 1, RATE), LimitingMethod("htb_class", classes=1, rate=RATE))


def run() -> list[Figure]:
    """Measure everything; print a message for each method that this kernel cannot run, and leave it out."""
    if os.geteuid():
        raise SystemExit("script/bench shape needs root: for network namespaces, nftables and queueing disciplines")
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, max(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with ExitStack() as stack:
        bench = stack.enter_context(ShapingNetwork.create())
        ways = [way for way in (*COSTS, *CLASSES) if bench.add(way)]
        return [
            *_measure_costs(bench, [way for way in ways if way in COSTS]),
            *_measure_shares(bench, [way for way in ways if way in CLASSES]),
        ]


class ShapingNetwork:
    """The namespaces, with a gateway for each method of limiting."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.numbers = prefix, dict[str, int]()
        self.members, self.internet = f"{prefix}-members", f"{prefix}-internet"

    @classmethod
    @contextmanager
    def create(cls) -> Iterator["ShapingNetwork"]:
        """Create the namespaces for the block, and delete them at its end."""
        made = cls(f"nw-shape-{os.getpid()}")
        try:
            for each in (made.members, made.internet):
                _run_command(f"ip netns add {each}")
                _run_command(f"ip -n {each} link set lo up")
            _run_command(f"ip -n {made.members} route add local 10.16.0.0/15 dev lo")
            drop = f"udp dport {DISCARD} counter drop;"
            _run_command(
                f"ip netns exec {made.internet} nft -f -",
                f"table ip d {{ chain c {{ type filter hook prerouting priority -300; {drop} }}; }}",
            )
            yield made
        finally:
            for each in (*(made.get_gateway(name) for name in made.numbers), made.members, made.internet):
                subprocess.run(["ip", "netns", "del", each], check=False, capture_output=True)

    def get_gateway(self, name: str) -> str:
        """Return the namespace of a method's gateway."""
        return f"{self.prefix}-{name}"

    def get_target(self, way: LimitingMethod) -> str:
        """Return the internet host that is reached through this method's gateway."""
        return TARGET.format(self.numbers[way.name])

    def count_arrived(self) -> int:
        """Return the number of datagrams that have reached the internet."""
        listed = _run_command(f"ip netns exec {self.internet} nft list table ip d")
        return int(listed.partition("packets ")[2].split()[0])

    def add(self, way: LimitingMethod) -> bool:
        """Build the method's gateway; return False if the kernel lacks a feature."""
        number = self.numbers[way.name] = len(self.numbers) + 1
        self._wire(self.get_gateway(way.name), number)
        _run_command(f"ip netns exec {self.get_gateway(way.name)} nft -f -", render(compile_policy(_build_policy(way, number)), now=0))
        if not way.classes:
            return True
        try:
            _add_classes(self.get_gateway(way.name), way)
        except subprocess.CalledProcessError as missing:
            print(f"{way.name}: skipped: {missing.stderr.strip().splitlines()[-1:]}", flush=True)
            return False
        return True

    def _wire(self, gateway: str, number: int) -> None:
        _run_command(f"ip netns add {gateway}")
        for there, near, net in ((self.members, "lan0", f"10.0.{number}"), (self.internet, "wan0", f"192.0.{number}")):
            _run_command(f"ip link add {near} netns {gateway} type veth peer name g{number} netns {there}")
            _run_command(f"ip -n {gateway} address add {net}.1/24 dev {near}")
            _run_command(f"ip -n {there} address add {net}.2/24 dev g{number}")
            _run_command(f"ip -n {gateway} link set {near} up")
            _run_command(f"ip -n {there} link set g{number} up")
        _run_command(f"ip netns exec {gateway} sysctl -qw net.ipv4.ip_forward=1")
        _run_command(f"ip -n {gateway} route add 10.16.0.0/15 via 10.0.{number}.2")
        _run_command(f"ip -n {gateway} route add 203.0.113.0/24 via 192.0.{number}.2")
        _run_command(f"ip -n {self.members} route add {TARGET.format(number)} via 10.0.{number}.1")
        _run_command(f"ip -n {self.internet} address add {TARGET.format(number)}/32 dev lo")
        _run_command(f"ip -n {self.internet} route add 198.51.{number}.0/24 via 192.0.{number}.1")


def _build_policy(way: LimitingMethod, number: int) -> Policy:
    addresses = tuple(FIRST + each for each in range(MEMBERS))
    publics = IPv4Address(f"198.51.{number}.0")
    return Policy(
        GatewaySpec(way.name, Interfaces("lan0", "wan0", "mgmt0"), Management((IPv4Network("172.31.0.0/24"),))),
        addresses=addresses,
        mappings=tuple(NatMappingSpec(each, publics + _compute_public_octet(at)) for at, each in enumerate(addresses)),
        rate_limits=tuple(RateLimitSpec(at, IPv4Network(FIRST + at), way.rate, way.rate) for at in _select_members(way.policed)),
    )


def _select_members(number: int) -> range:
    """Select this many of all members, evenly spaced; with 1,000 these are the senders."""
    return range(0, MEMBERS, MEMBERS // number) if number else range(0)


def _add_classes(gateway: str, way: LimitingMethod) -> None:
    """Add an HTB class for each member: chosen by a map lookup, or by the mark among the filters of one of 256 buckets."""
    rate = f"{way.rate * 8}bit" if way.rate != UNREACHED else "8gbit"
    members = [(FIRST + at, at + 1) for at in _select_members(way.classes)]
    for card in ("wan0",) if way.filters else ("lan0", "wan0"):
        lines = [f"qdisc add dev {card} root handle 1: htb direct_qlen 1000"]
        lines += [f"class add dev {card} parent 1: classid 1:{at:x} htb rate {rate} burst 64k quantum 60000" for _, at in members]
        _run_command(f"tc -n {gateway} -batch -", "\n".join([*lines, *(_iter_filters(way) if way.filters else ())]))
    kind, field = ("mark", "meta mark") if way.filters else ("classid", "meta priority")
    values = ", ".join(f"{each} : {number if way.filters else f'1:{number:x}'}" for each, number in members)
    _run_command(
        f"ip netns exec {gateway} nft -f -",
        f"""table inet shape {{
            map classes {{ type ipv4_addr : {kind}; size 65536; elements = {{ {values} }} }}
            chain forward {{ type filter hook forward priority -150;
                iifname "lan0" {field} set ip saddr map @classes
                oifname "lan0" {field} set ip daddr map @classes
            }}
        }}""",
    )


def _iter_filters(way: LimitingMethod) -> Iterator[str]:
    """Yield filters: a bucket by the last octet of the public source (as `fw` would use that of the mark), with a list of filters in it."""
    add = "filter add dev wan0 parent 1: protocol ip prio 1"
    yield f"{add} handle 2: u32 divisor 256"
    for at in _select_members(way.classes):
        yield f"{add} u32 ht 2:{_compute_public_octet(at):x}: match mark {at + 1} 0xffffffff flowid 1:{at + 1:x}"
    yield f"{add} u32 ht 800:: match ip src 0.0.0.0/0 hashkey mask 0x000000ff at 12 link 2:"


def _compute_public_octet(member: int) -> int:
    """Return the last octet of the member's public address."""
    return 1 + member % 200


def _measure_costs(bench: ShapingNetwork, ways: list[LimitingMethod]) -> Iterator[Figure]:
    """Yield the sender's CPU time for a packet, relative to no limits in the same round."""
    os.sched_setaffinity(0, {0})
    with _enter_namespace(bench.members):
        sources = [FIRST + at for at in _select_members(ACTIVE)]
        sockets = {way.name: [_open_socket(each, 4000 + at, bench.get_target(way)) for each in sources] for at, way in enumerate(ways)}
    for each in sockets.values():
        _send(each, 2 * ACTIVE)  # opens the connections outside the measurement
    rounds = [{way.name: _send(sockets[way.name], PACKETS) for way in ways} for _ in range(ROUNDS)]
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    sent = len(ways) * (2 * ACTIVE + ROUNDS * PACKETS)
    yield Figure("arrived", bench.count_arrived() / sent, "of what was sent", ">= 0.99")
    yield Figure("packet_plain", median(each["plain"] for each in rounds) * 1e6, "µs of CPU")
    for way in ways[1:]:
        yield Figure(way.name, median(each[way.name] / each["plain"] for each in rounds), "of no limits", GOALS.get(way.name))


def _open_socket(source: IPv4Address, port: int, target: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
    made.bind((str(source), port))
    made.connect((target, DISCARD))
    return made


def _send(sockets: list[socket.socket], number: int) -> float:
    """Return the seconds of CPU time for a packet; the sockets take turns."""
    payload, sends = bytes(64), [each.send for each in sockets]
    start = time.process_time()
    for _ in range(number // len(sends)):
        for send in sends:
            send(payload)
    return (time.process_time() - start) / number


def _measure_shares(bench: ShapingNetwork, ways: list[LimitingMethod]) -> Iterator[Figure]:
    """Yield the share of the rate that a limited member gets, and the share of their rate alone that a neighbour keeps."""
    for way in ways:
        for direction in ("up", "down"):
            with _open_stream(bench, way, FIRST, up=direction == "up") as octets:
                share = _measure_rate(octets) / RATE
            yield Figure(f"{way.name}_share_{direction}", share, "of 5 Mbit/s", ">= 0.85")
            yield Figure(f"{way.name}_over_{direction}", share, "of 5 Mbit/s", "<= 1.02")
    yield Figure("neighbour_share", _measure_neighbour(bench, ways[0]), "of what they get alone", ">= 0.97")


def _measure_neighbour(bench: ShapingNetwork, way: LimitingMethod) -> float:
    """Return the median over rounds of the neighbour's rate beside a limited member, relative to their rate alone.

    The limited member sends as much as possible. The neighbour sends at a steady pace, so that the two do not compete for the
    processor.
    """
    found = []
    with _open_stream(bench, way, FIRST + 1, up=True, pace=STEADY) as octets:
        for _ in range(7):
            alone = _measure_rate(octets, settle=0.5, measure=1.0)
            with _open_stream(bench, way, FIRST, up=True):
                found.append(_measure_rate(octets, settle=0.5, measure=1.0) / alone)
    return median(found)


def _measure_rate(octets: Callable[[], int], *, settle: float = SETTLE, measure: float = MEASURE) -> float:
    time.sleep(settle)
    start, before = time.monotonic(), octets()
    time.sleep(measure)
    return (octets() - before) / (time.monotonic() - start)


@contextmanager
def _open_stream(
    bench: ShapingNetwork, way: LimitingMethod, member: IPv4Address, *, up: bool, pace: int = 0
) -> Iterator[Callable[[], int]]:
    """Open a TCP connection of the member through the method's gateway, which carries as much as it can, or `pace` octets per
    second.

    Yields a function that returns the octets that have arrived.
    """
    with _enter_namespace(bench.internet):
        listener = socket.create_server((bench.get_target(way), 0))
    with _enter_namespace(bench.members):
        near = socket.socket()
        near.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
        near.bind((str(member), 0))
        near.connect(listener.getsockname())
    far, _peer = listener.accept()
    source, sink = (near, far) if up else (far, near)
    if pace:
        source.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, pace)
    arrived = [0]
    threads = [Thread(target=_pour, args=(source,), daemon=True), Thread(target=_drain, args=(sink, arrived), daemon=True)]
    for thread in threads:
        thread.start()
    try:
        yield lambda: arrived[0]
    finally:
        for each in (near, far):
            each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(10)
        for each in (near, far, listener):
            each.close()


def _pour(source: socket.socket) -> None:
    chunk = bytes(1 << 16)
    try:
        while True:
            source.sendall(chunk)
    except OSError:
        return


def _drain(sink: socket.socket, arrived: list[int]) -> None:
    try:
        while got := sink.recv(1 << 18):
            arrived[0] += len(got)
    except OSError:
        return


@contextmanager
def _enter_namespace(space: str) -> Iterator[None]:
    """Enter the namespace for the block: sockets that this thread makes are in it."""
    home, there = os.open("/proc/thread-self/ns/net", os.O_RDONLY), os.open(f"/run/netns/{space}", os.O_RDONLY)
    os.setns(there, os.CLONE_NEWNET)
    try:
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(there)
        os.close(home)


def _run_command(command: str, text: str | None = None) -> str:
    return subprocess.run(command.split(), input=text, text=True, check=True, capture_output=True).stdout
