"""Nothing is forwarded before the ruleset is loaded: a member sends packets while the restore at boot is killed sooner or later.

There are three namespaces: the member's, the gateway's, and one outside that records the sources of packets. IPv6 is not
translated, so a source that no member holds stands for everything that the ruleset would not let out.
"""

import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from subprocess import Popen, TimeoutExpired
from threading import Event, Thread, get_native_id

import pytest

from firewall import digest
from gateway.persistent_state import StateDirectory
from tests.agent.namespace import Namespace
from tests.agent.rulesets import network

pytestmark = pytest.mark.kernel
ROOT = Path(__file__).parents[2]
MEMBER, OUTSIDE, PORT = "10.1.0.1", "203.0.113.9", 9999
MEMBER6, STRANGER6, OUTSIDE6 = "2001:db8::10", "2001:db8:ffee::66", "2001:db8:fff0::9"
PUBLIC = "198.51.100.7"
ALL, ALLOWED = {MEMBER, MEMBER6, STRANGER6}, {PUBLIC, MEMBER6}
MEMBERS = 3000  # makes the restore take a while
ROUTER, HOST = "02:00:00:00:00:01", "02:00:00:00:00:02"  # of every cable, so that no neighbour discovery is needed


def ip(space: Namespace, *commands: str) -> None:
    text = "".join(f"{command}\n" for command in commands)
    space.do(subprocess.run, ["ip", "-batch", "-"], input=text, text=True, check=True, capture_output=True)


def cable(space: Namespace, name: str, to: Namespace, other: str) -> None:
    """Lay a cable from this namespace's interface to the other one's."""
    ip(space, f"link add {name} type veth peer name {other} netns {to.do(get_native_id)}")


@dataclass
class RestoreWires:
    """The three namespaces, with cables, and sockets that send and listen."""

    member: Namespace = field(default_factory=Namespace)
    gateway: Namespace = field(default_factory=Namespace)
    outside: Namespace = field(default_factory=Namespace)
    ending: Event = field(default_factory=Event)

    def lay(self) -> None:
        cable(self.gateway, "lan", self.member, "eth0")
        cable(self.gateway, "wan", self.outside, "eth0")
        for space in (self.member, self.outside):
            ip(space, f"link set eth0 address {HOST}", "link set eth0 up")
        ip(self.gateway, f"link set lan address {ROUTER}", f"link set wan address {ROUTER}", "link set lan up", "link set wan up")
        ip(self.member, f"addr add {MEMBER}/16 dev eth0", "route add default via 10.1.255.254")
        ip(self.outside, f"addr add {OUTSIDE}/24 dev eth0")
        ip(self.gateway, "addr add 10.1.255.254/16 dev lan", "addr add 203.0.113.1/24 dev wan")
        self._lay6()
        self.gateway.do(Path("/proc/sys/net/ipv4/ip_forward").write_text, "1")
        self.gateway.do(Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text, "1")
        self.ears = [self.outside.do(_ear, OUTSIDE), self.outside.do(_ear, OUTSIDE6)]
        self.voices = [(self.member.do(_voice, source), to) for source, to in ((MEMBER, OUTSIDE), (STRANGER6, OUTSIDE6))]

    def _lay6(self) -> None:
        ip(self.member, *(f"addr add {each}/64 dev eth0 nodad" for each in (MEMBER6, STRANGER6)))
        ip(self.member, f"neigh add 2001:db8::1 lladdr {ROUTER} dev eth0 nud permanent", "route add default via 2001:db8::1 dev eth0")
        ip(self.outside, f"addr add {OUTSIDE6}/64 dev eth0 nodad")
        ip(self.gateway, "addr add 2001:db8:fff0::1/64 dev wan nodad", f"neigh add {OUTSIDE6} lladdr {HOST} dev wan nud permanent")

    def reboot(self) -> None:
        """Delete all rules and connections, as a reboot does."""
        self.run("nft", "flush", "ruleset")
        self.run("conntrack", "-F")

    def run(self, *command: str) -> None:
        self.gateway.do(subprocess.run, command, check=True, capture_output=True)

    def has_table(self) -> bool:
        listed = self.gateway.do(subprocess.run, ["nft", "list", "tables"], check=True, capture_output=True)
        return b"inet netzwart" in listed.stdout

    def popen(self, *command: str) -> Popen[bytes]:
        return self.gateway.do(Popen, command, cwd=ROOT, stderr=subprocess.DEVNULL)

    def listen_for(self, awaited: Set[str] = frozenset()) -> set[str]:
        """Send packets from the member; return the sources that arrive outside. Each has a port of its own, so each is a new
        connection.

        awaited: sources to wait for, however long they take on a busy machine. Sources that arrive later appear in the next call.
        """
        for space, cards in ((self.member, ("eth0",)), (self.gateway, ("lan", "wan")), (self.outside, ("eth0",))):
            space.await_cards(*cards)
        for source, to in ((MEMBER, OUTSIDE), (MEMBER6, OUTSIDE6), (STRANGER6, OUTSIDE6)):
            for _packet in range(20):
                with self.member.do(_voice, source) as voice:
                    voice.sendto(b"?", (to, PORT))
        found = self.waiting()
        while not found >= awaited:
            assert select(self.ears, [], [], 60)[0], f"only {found} came"
            found |= self.waiting()
        return found

    def waiting(self) -> set[str]:
        """Return the sources of all packets since the last call."""
        return {source for ear in self.ears for source in _iter_heard(ear)}

    def talk(self) -> None:
        """Send packets from a member, and from an unheld source, until `ending` is set."""
        while not self.ending.is_set():
            for voice, to in self.voices:
                voice.sendto(b"?", (to, PORT))
            self.ending.wait(0.0005)

    def close(self) -> None:
        for each in (*self.ears, *(voice for voice, _to in self.voices)):
            each.close()
        for space in (self.member, self.gateway, self.outside):
            space.close()


def _voice(source: str, port: int = 0) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((source, port))
    return made


def _ear(at: str) -> socket.socket:
    made = _voice(at, PORT)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    made.setblocking(False)
    return made


def _iter_heard(ear: socket.socket) -> Iterator[str]:
    with suppress(BlockingIOError):
        while True:
            yield ear.recvfrom(64)[1][0]


@pytest.fixture
def wires(kernel_is_there: str) -> Iterator[RestoreWires]:
    if kernel_is_there:
        pytest.skip(kernel_is_there)
    made = RestoreWires()
    made.lay()
    yield made
    made.close()


@pytest.fixture
def restore(tmp_path: Path) -> tuple[str, ...]:
    """Save a confirmed ruleset; return the command that restores it."""
    state = StateDirectory(tmp_path)
    state.write_checkpoint(network(MEMBERS), digest.digest_ruleset(network(MEMBERS)), 0)
    state.close()
    return (sys.executable, "-m", "gateway", "restore", "--state", str(tmp_path))


def closing() -> list[str]:
    """Return the command of the first unit at boot."""
    lines = (ROOT / "gateway" / "systemd" / "netzwart-closed.service").read_text().splitlines()
    [command] = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    return shlex.split(command)


def test_without_any_rules_all_packets_leave_untranslated(wires: RestoreWires) -> None:
    """Control test: it proves that the other tests would see packets."""
    assert wires.listen_for(ALL) == ALL


def test_the_first_unit_lets_nothing_out_and_the_restore_lets_it_out_translated(wires: RestoreWires, restore: tuple[str, ...]) -> None:
    wires.reboot()
    wires.run(*closing())
    assert wires.listen_for() == set()
    wires.run(*restore)
    assert wires.listen_for(ALLOWED) == ALLOWED
    wires.run(*closing())  # as when the unit is started by hand on a running gateway
    assert wires.listen_for(ALLOWED) == ALLOWED


@pytest.mark.parametrize("first", [True, False], ids=["after the first unit", "alone"])
def test_a_restore_that_is_killed_at_any_moment_lets_nothing_forbidden_out(
    wires: RestoreWires, restore: tuple[str, ...], first: bool
) -> None:
    """Kill the restore ever later, until one run ends by itself.

    "Alone" is the case in which only the program was renewed; the promise then holds from the moment when it has closed
    forwarding.
    """
    talking, ends = Thread(target=wires.talk), list[int]()
    talking.start()
    try:
        for number in range(200):
            ends.append(boot(wires, restore, first=first, seconds=number * number / 100))
            assert wires.waiting() <= ALLOWED
            assert wires.listen_for() <= ALLOWED
            if ends[-1] == 0:
                break
    finally:
        wires.ending.set()
        talking.join()
    assert ends[-1] == 0 and len(ends) > 2
    assert wires.listen_for(ALLOWED) == ALLOWED


def boot(wires: RestoreWires, restore: tuple[str, ...], *, first: bool, seconds: float) -> int:
    """Boot, kill the restore after `seconds` unless it has ended, and return its exit status. Links come up as early as possible."""
    ip(wires.gateway, "link set lan down")
    wires.reboot()
    wires.waiting()
    if first:
        wires.run(*closing())
        ip(wires.gateway, "link set lan up")
    process = wires.popen(*restore)
    if not first:
        while process.poll() is None and not wires.has_table():
            pass
        ip(wires.gateway, "link set lan up")
    try:
        return process.wait(seconds)
    except TimeoutExpired:
        process.kill()
        return process.wait()
