"""Evidence: each gateway hands over every part or says why not, no payload of a packet is among it, and nothing waits for it."""

import json
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import Struct, unpack_from
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pytest

from firewall import wire
from firewall.codec import WireError
from firewall.evidence import LARGEST, SECONDS, CollectEvidence, EvidenceCollected, EvidenceKind, EvidencePart
from gateway.evidence import collection
from gateway.evidence.collection import collect_parts
from gateway.evidence.header_service import answer_one_request, ask_for_headers, take_headers
from gateway.evidence.part import Deadline, PartContent, PartMissingError, PartReader, build_text
from gateway.memory_table import FakeKernel
from tests.agent.client import PATIENCE, Client
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import ROOT, AnyGateway, OnKernel, clock
from tests.agent.requests import deploy, runs, send_refused
from tests.agent.rulesets import network, text_of, whole
from tests.agent.test_beats import Busy, Waiting
from tests.agent.test_machine import run_ip

SECRET = b"PAYLOAD-THAT-NOBODY-MAY-SEE"
SHORT = CollectEvidence(("lo",), 1)
RECORD = Struct("=IIII")
LINK = 20  # octets of a record before the packet: LINKTYPE_LINUX_SLL2


def collect(gateway: AnyGateway, request: CollectEvidence = SHORT) -> dict[EvidenceKind, EvidencePart]:
    answer = gateway.ask(request)
    assert isinstance(answer, EvidenceCollected), answer
    assert [each.kind for each in answer.parts] == sorted(EvidenceKind, key=list(EvidenceKind).index)
    return {each.kind: each for each in answer.parts}


def expand(part: EvidencePart) -> bytes:
    octets = zlib.decompress(part.deflated) if part.deflated else b""
    assert len(octets) == part.size <= LARGEST[part.kind]
    return octets


def list_packets(pcap: bytes) -> list[tuple[int, bytes]]:
    """Return EtherType and octets of each packet in the file."""
    magic, linktype = unpack_from("=I", pcap)[0], unpack_from("=I", pcap, 20)[0]
    assert (magic, linktype) == (0xA1B23C4D, 276)
    found, at = [], 24
    while at < len(pcap):
        _seconds, _nanoseconds, kept, length = RECORD.unpack_from(pcap, at)
        assert LINK <= kept <= length
        record = pcap[at + RECORD.size : at + RECORD.size + kept]
        found.append((int.from_bytes(record[:2]), record[LINK:]))
        at += RECORD.size + kept
    return found


def test_every_gateway_hands_over_each_part_or_says_why_not(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    parts = collect(gateway)
    assert all(expand(each) or each.note for each in parts.values())
    ruleset = json.loads(expand(parts[EvidenceKind.RULESET]))
    assert (ruleset["digest"], ruleset["trial"]) == (text_of(network(3)), "")
    assert b"leaked: " in expand(parts[EvidenceKind.COUNTERS])
    assert json.loads(expand(parts[EvidenceKind.HEALTH]))["is"] == "HealthCounters"
    assert runs(gateway) == text_of(network(3))


@restrict_to_gateways("in memory", "served")
def test_a_gateway_in_memory_says_that_it_has_no_machine(gateway: AnyGateway) -> None:
    assert "in memory" in collect(gateway)[EvidenceKind.HEADERS].note


@pytest.mark.parametrize("request_", [CollectEvidence((), 0), CollectEvidence((), SECONDS[-1] + 1), CollectEvidence(("lo",) * 9, 1)])
@restrict_to_gateways("in memory", "served")
def test_a_request_out_of_range_is_refused(gateway: AnyGateway, request_: CollectEvidence) -> None:
    assert send_refused(gateway, request_).reason == "malformed"


class LoopbackTalk:
    """Packets with a payload on a gateway's loopback, until it is ended."""

    def __init__(self) -> None:
        self._over = Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.client = socket.create_connection(self.server.getsockname())
        self.peer, _ = self.server.accept()
        self._datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self._thread = Thread(target=self._talk)
        self._thread.start()

    def _talk(self) -> None:
        while not self._over.wait(0.02):
            self.client.sendall(SECRET)
            assert self.peer.recv(len(SECRET), socket.MSG_WAITALL) == SECRET
            self._datagrams.sendto(SECRET, ("::1", 9))

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        for each in (self.client, self.peer, self.server, self._datagrams):
            each.close()


@pytest.fixture
def conversation(gateway: OnKernel) -> Iterator[LoopbackTalk]:
    run_ip(gateway, "link set lo up")
    made = gateway.space.do(LoopbackTalk)
    yield made
    made.end()


@restrict_to_gateways("kernel")
def test_headers_of_real_packets_are_taken_and_none_of_their_payload(gateway: OnKernel, conversation: LoopbackTalk) -> None:
    parts = collect(gateway)
    pcap = expand(parts[EvidenceKind.HEADERS])
    packets = list_packets(pcap)
    port = conversation.client.getsockname()[1].to_bytes(2)
    sent = [octets for protocol, octets in packets if protocol == 0x0800 and octets[9] == 6 and octets[20:22] == port]
    datagrams = [octets for protocol, octets in packets if protocol == 0x86DD and octets[6] == 17]
    assert sent and all(len(each) == 20 + (each[32] >> 4) * 4 for each in sent)
    assert datagrams and all(len(each) == 48 for each in datagrams)
    for part in parts.values():
        assert not any(SECRET[at : at + 4] in expand(part) for at in range(len(SECRET) - 4)), part.kind


@restrict_to_gateways("kernel")
def test_the_machines_own_connections_are_listed_and_marked_if_they_lack_sack(gateway: OnKernel, conversation: LoopbackTalk) -> None:
    ends = f"127.0.0.1:{conversation.client.getsockname()[1]} 127.0.0.1:{conversation.server.getsockname()[1]}"
    [line] = [each for each in expand(collect(gateway)[EvidenceKind.SOCKETS]).decode().splitlines() if ends in each]
    assert line.startswith("- established") and "rtt_us:" in line and "NO-" not in line
    gateway.space.do(subprocess.run, ["sysctl", "-qw", "net.ipv4.tcp_sack=0", "net.ipv4.tcp_window_scaling=0"], check=True)
    plain = gateway.space.do(LoopbackTalk)
    try:
        head, first, *_ = expand(collect(gateway)[EvidenceKind.SOCKETS]).decode().splitlines()
        assert first.startswith("! established") and "NO-SACK NO-WINDOW-SCALING" in first and "2 of them" in head
    finally:
        plain.end()


@restrict_to_gateways("kernel")
def test_the_largest_connections_come_first_with_accounting_and_without_it_is_said(gateway: OnKernel, conversation: LoopbackTalk) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    tracked = gateway.space.do(LoopbackTalk)  # its handshake has passed the rules
    try:
        without = collect(gateway)[EvidenceKind.FLOWS]
    finally:
        tracked.end()
    assert "nf_conntrack_acct" in without.note and b"127.0.0.1" in expand(without)
    gateway.space.do(subprocess.run, ["sysctl", "-qw", "net.netfilter.nf_conntrack_acct=1"], check=True)
    counted = gateway.space.do(LoopbackTalk)
    try:
        found = collect(gateway)[EvidenceKind.FLOWS]
    finally:
        counted.end()
    text = expand(found).decode()
    largest = text[text.index("Connections with most octets") :].splitlines()[1].split()
    assert found.note == "" and largest[2] == "tcp" and int(largest[0]) > int(largest[1]) > 0


@restrict_to_gateways("kernel")
def test_links_addresses_and_routes_are_those_of_the_kernel(gateway: OnKernel) -> None:
    run_ip(gateway, "link add wan0 type veth peer name far0", "addr add 192.0.2.2/24 dev wan0", "link set wan0 up", "link set far0 up")
    run_ip(gateway, "route add default via 192.0.2.1 metric 7")
    found = json.loads(expand(collect(gateway)[EvidenceKind.NETWORK]))
    assert {"lo", "wan0", "far0"} == {each["name"] for each in found["links"]}
    assert {"address": "192.0.2.2/24", "scope": 0, "link": "wan0"} in found["addresses"]
    [default] = [each for each in found["routes"] if each["destination"] == "default"]
    assert (default["gateway"], default["metric"], default["link"]) == ("192.0.2.1", 7, "wan0")


@restrict_to_gateways("kernel")
def test_an_interface_that_is_not_there_is_named_and_the_others_are_taken(gateway: OnKernel, conversation: LoopbackTalk) -> None:
    assert conversation.client.fileno() > 0
    part = collect(gateway, CollectEvidence(("lo", "wan9"), 1))[EvidenceKind.HEADERS]
    assert "wan9" in part.note and list_packets(expand(part))
    gone = collect(gateway, CollectEvidence(("wan9",), 1))[EvidenceKind.HEADERS]
    assert gone.size == 0 and "no interface" in gone.note


@restrict_to_gateways("kernel")
def test_of_too_many_packets_the_first_of_each_part_of_the_time_are_taken(gateway: OnKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    run_ip(gateway, "link set lo up")
    monkeypatch.setattr("gateway.evidence.capture.MOST_PACKETS", 20)
    talk = gateway.space.do(LoopbackTalk)
    try:
        part = gateway.space.do(take_headers, ("lo",), 1, Deadline(PATIENCE, Event()))
    finally:
        talk.end()
    assert 0 < len(list_packets(part.octets)) <= 20 and "more than the agent takes" in part.note


@restrict_to_gateways("kernel")
def test_a_process_of_its_own_takes_the_headers_for_an_agent_that_may_not(gateway: OnKernel, conversation: LoopbackTalk) -> None:
    """As netzwart-headers.socket does: a process for each connection, which it finds as its standard input."""
    assert conversation.client.fileno() > 0
    with TemporaryDirectory(prefix="nw") as directory, socket.socket(socket.AF_UNIX) as listener:
        path = Path(directory, "headers")
        listener.bind(str(path))
        listener.listen()
        server = Thread(target=gateway.space.do, args=(serve_once, listener))
        server.start()
        part = ask_for_headers(path, SHORT, Deadline(PATIENCE, Event()))
        server.join()
    assert part.note == "" and list_packets(part.octets) and SECRET not in part.octets


def serve_once(listener: socket.socket) -> None:
    peer, _ = listener.accept()
    with peer:
        subprocess.run([sys.executable, "-m", "gateway", "headers"], cwd=ROOT, stdin=peer.fileno(), check=True)


def test_an_agent_whose_process_for_headers_is_missing_says_what_to_look_at(tmp_path: Path) -> None:
    with pytest.raises(PartMissingError, match=r"No such file or directory\. Is netzwart-headers\.socket active\?"):
        ask_for_headers(tmp_path / "none", SHORT, Deadline(PATIENCE, Event()))


@pytest.mark.parametrize(
    "line",
    [
        *(b"\n", b"[]\n", b'{"interfaces": ["lo"], "seconds": 60}\n', b'{"interfaces": "lo", "seconds": 1}\n'),
        *(b"x" * 70_000 + b"\n", b""),
    ],
)
def test_the_process_for_headers_takes_nothing_for_a_request_out_of_range(line: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(line)
        ours.shutdown(socket.SHUT_WR)
        with pytest.raises(WireError):
            answer_one_request(theirs)


@pytest.mark.parametrize("answer", [b"", b"no json\n", b"[]\n", b'{"note": 1}\n'])
def test_an_answer_that_is_none_is_no_part(tmp_path: Path, answer: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as listener, TemporaryDirectory(prefix="nw") as directory:
        path = Path(directory, "headers")
        listener.bind(str(path))
        listener.listen()
        server = Thread(target=lambda: _send(listener, answer))
        server.start()
        with pytest.raises(PartMissingError, match="No packets at"):
            ask_for_headers(path, SHORT, Deadline(PATIENCE, Event()))
        server.join()


def _send(listener: socket.socket, answer: bytes) -> None:
    peer, _ = listener.accept()
    with peer:
        peer.recv(1 << 16)
        peer.sendall(answer)


class Held(Waiting):
    """A table whose packet headers take until `may` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = Event()

    def build_evidence_readers(self, request: CollectEvidence) -> Mapping[EvidenceKind, PartReader]:
        return {EvidenceKind.HEADERS: self._wait}

    def _wait(self, _deadline: Deadline) -> PartContent:
        self.begun.set()
        assert self.may.wait(PATIENCE)
        return PartContent(b"taken")

    commit = FakeKernel.commit


@pytest.fixture
def held_gateway() -> Iterator[Busy]:
    made = Busy(Held())
    yield made
    made.close()


def test_a_change_on_trial_is_taken_back_in_time_while_evidence_is_collected(held_gateway: Busy) -> None:
    table = held_gateway.table
    assert isinstance(table, Held)
    other = Client(held_gateway.socket)
    target = whole(network(3), token=1, now=clock(), within=1)
    applied = other.ask(target)
    assert getattr(applied, "digest", "") == target.target, applied
    waiting = held_gateway.send_and_wait(CollectEvidence(("lo",), SECONDS[-1]))
    assert table.begun.wait(PATIENCE)
    while getattr(other.ask(wire.Hello(clock())), "trial", ""):
        continue
    busy = other.ask(CollectEvidence(("lo",), 1))
    assert "being collected here already" in getattr(busy, "text", ""), busy
    table.may.set()
    _, answer = waiting.answer()
    assert isinstance(answer, EvidenceCollected)
    assert expand(answer.parts[-1]) == b"taken"
    for each in (waiting, other):
        each.close()


def test_a_part_that_fails_or_hangs_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "PATIENCE", 1.0)
    ends = Event()

    def hang(_deadline: Deadline) -> PartContent:
        ends.wait(PATIENCE)
        return PartContent(b"too late")

    def miss(_deadline: Deadline) -> PartContent:
        raise PartMissingError("There is none.")

    def fail(_deadline: Deadline) -> PartContent:
        raise ZeroDivisionError("one by none")

    def refuse(_deadline: Deadline) -> PartContent:
        raise PermissionError(1, "Operation not permitted")

    def exceed(_deadline: Deadline) -> PartContent:
        return PartContent(bytes(LARGEST[EvidenceKind.COUNTERS] + 1))

    readers: dict[EvidenceKind, PartReader] = {
        EvidenceKind.RULESET: hang,
        EvidenceKind.COUNTERS: exceed,
        EvidenceKind.HEALTH: miss,
        EvidenceKind.CONNTRACK: fail,
        EvidenceKind.FLOWS: refuse,
        EvidenceKind.SOCKETS: lambda _deadline: PartContent(b"found"),
    }
    notes = {each.kind: each.note for each in collect_parts(readers, 0, Event())}
    ends.set()
    assert "not read within" in notes[EvidenceKind.RULESET]
    assert "more than the" in notes[EvidenceKind.COUNTERS]
    assert notes[EvidenceKind.HEALTH] == "There is none."
    assert "ZeroDivisionError: one by none" in notes[EvidenceKind.CONNTRACK]
    assert "Operation not permitted" in notes[EvidenceKind.FLOWS]
    assert notes[EvidenceKind.SOCKETS] == ""


def test_an_agent_that_stops_does_not_wait_for_a_part() -> None:
    stop, ends = Event(), Event()

    def hang(_deadline: Deadline) -> PartContent:
        stop.set()
        ends.wait(PATIENCE)
        return PartContent(b"too late")

    parts = collect_parts({EvidenceKind.RULESET: hang}, SECONDS[-1], stop)
    ends.set()
    assert {each.note for each in parts if each.kind is not EvidenceKind.HEADERS} == {"The agent was stopped meanwhile."}


def test_nothing_more_is_read_once_the_agent_stops() -> None:
    stop = Event()
    stop.set()
    assert {each.note for each in collect_parts({}, 10, stop)} == {"The agent was stopped meanwhile."}


def test_a_long_text_is_cut_at_a_line_and_says_so() -> None:
    lines = [f"{number:07}" for number in range(LARGEST[EvidenceKind.COUNTERS] // 8 + 10)]
    first, last = (build_text(EvidenceKind.COUNTERS, lines, keep_last=keep).octets.splitlines() for keep in (False, True))
    assert (first[0], last[-1]) == (lines[0].encode(), lines[-1].encode())
    assert {len(each) for each in (*first, *last)} == {7}
    assert "Cut to its last 64 KiB." in build_text(EvidenceKind.COUNTERS, lines, keep_last=True).note
