"""Reads all counters of an agent through its socket: alone, beside changes, and after every element has counted packets."""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import cycle, islice
from multiprocessing import Pipe, get_context
from pathlib import Path
from select import select
from statistics import median
from struct import pack

from firewall import digest, wire
from firewall.diff import Delta
from firewall.ruleset import Ruleset
from gateway import elements, netlink
from gateway.netlink import Netlink
from gateway.netlink_attributes import pack_attribute, pack_nested
from gateway.operations import Agent
from gateway.server import AgentServer

TIMES = 3
PATIENCE = 120.0  # seconds
AT_ONCE = 512  # elements of one message

# linux/netfilter/nf_tables.h
_LIST_ELEM, _KEY, _EXPR, _VALUE = 1, 1, 7, 1
_NAME, _DATA, _OCTETS, _PACKETS = 1, 2, 1, 2


def measure(agent: Agent, directory: Path, ruleset: Ruleset, delta: Delta) -> dict[str, float]:
    """Measure readings; `ruleset` runs and is confirmed. delta: a change of one member, which is applied and reverted all the time."""
    alone = _run_client(agent, directory / "alone", lambda path: _measure_alone(path, ruleset, delta))
    let_all_count(ruleset)
    return alone | _run_client(agent, directory / "counted", _measure_all_counted)


def measure_reading(agent: Agent, path: Path) -> float:
    """Return the seconds in which a client reads all counters."""
    return _run_client(agent, path, _measure_readings)["counters_seconds"]


def _measure_readings(path: Path) -> dict[str, float]:
    with closing(AgentConnection(path)) as collector:
        return {"counters_seconds": median(collector.ask(wire.Reading, wire.Counters("", 0)) for _ in range(TIMES))}


def _run_client(agent: Agent, path: Path, ask: Callable[[Path], dict[str, float]]) -> dict[str, float]:
    """Return the result of a client in a process of its own, while this process serves the agent."""
    receiver, sender = Pipe(duplex=False)
    client = get_context("fork").Process(target=lambda: sender.send(ask(path)))

    async def serve() -> None:
        server = await asyncio.start_unix_server(AgentServer(agent).handle_peer, path, limit=wire.MAX_LINE)
        client.start()
        await asyncio.to_thread(client.join)
        server.close()

    asyncio.run(serve())
    if client.exitcode:
        raise SystemExit("the client of the benchmark failed")
    found: dict[str, float] = receiver.recv()
    return found


class AgentConnection:
    """One connection to the agent."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")
        self.octets = 0  # of the last answer

    def send(self, request: wire.Request) -> None:
        self._socket.sendall(b"".join(wire.iter_lines(1, request)))

    @property
    def is_answering(self) -> bool:
        """Whether the answer has begun to arrive."""
        return bool(select([self._socket], [], [], 0)[0])

    def receive(self) -> wire.Reply:
        assembler, self.octets = wire.Assembler(), 0
        for line in self._file:
            self.octets += len(line)
            if (whole := assembler.feed(line)) and not isinstance(answer := wire.parse_reply(whole[1]), wire.Beat):
                return answer
        raise SystemExit("the agent has hung up")

    def ask(self, kind: type[wire.Reply], request: wire.Request) -> float:
        """Return the seconds until the answer has arrived and is parsed."""
        start = time.perf_counter()
        self.send(request)
        if not isinstance(answer := self.receive(), kind):
            raise SystemExit(f"the agent answered {answer}")
        return time.perf_counter() - start

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def _measure_alone(path: Path, ruleset: Ruleset, delta: Delta) -> dict[str, float]:
    with closing(AgentConnection(path)) as collector, closing(AgentConnection(path)) as portal:
        alone = [collector.ask(wire.Reading, wire.Counters("", 0)) for _ in range(TIMES)]
        collector.send(wire.Counters("", 0))
        applied = [portal.ask(*each) for each in _iter_changes(digest.digest_ruleset(ruleset), delta, collector)]
        collector.receive()
    milliseconds = [seconds * 1000 for seconds in applied[::2]]  # every other one is the confirmation
    return {
        "counters_seconds": median(alone),
        "apply_beside_counters_ms": median(milliseconds),
        "apply_beside_counters_slowest_ms": max(milliseconds),
    }


def _iter_changes(running: int, delta: Delta, collector: AgentConnection) -> Iterator[tuple[type[wire.Reply], wire.Request]]:
    """Yield apply and confirm requests, of the delta and its inverse in turn, until the collector's answer begins to arrive."""
    for each in cycle((delta, delta.invert())):
        after = digest.update_digest(running, each)
        target = digest.format_digest(after)
        yield wire.Applied, wire.Apply(1, int(time.time()), digest.format_digest(running), target, each, None, 30)
        yield wire.Confirmed, wire.Confirm(1, target)
        running = after
        if collector.is_answering:
            return


def _measure_all_counted(path: Path) -> dict[str, float]:
    with closing(AgentConnection(path)) as collector:
        seconds = [collector.ask(wire.Reading, wire.Counters("", 0)) for _ in range(TIMES)]
        return {"counters_all_counted_seconds": median(seconds), "counters_all_counted_mib": collector.octets / (1 << 20)}


def list_with_nft(ruleset: Ruleset) -> None:
    """List the same counters with `nft`, as JSON that is thrown away."""
    for name, declaration in ruleset.sets.items():
        if declaration.counter:
            subprocess.run(["nft", "-j", "list", "set", "inet", "netzwart", name], stdout=subprocess.DEVNULL, check=True)


def let_all_count(ruleset: Ruleset) -> None:
    """Give every counted element without a timeout the counts of a kernel, as if packets had matched: each is deleted and added again."""
    with closing(Netlink()) as own:
        for name, declaration in ruleset.sets.items():
            if declaration.counter and not declaration.timeout:
                keys = ruleset.elements[name]
                gone = [(netlink.DELSETELEM, body) for body in elements.iter_deletion_messages(name, keys)]
                own.transact(gone + [(netlink.NEWSETELEM, body) for body in _iter_counted(name, keys)])


def _iter_counted(name: str, keys: Iterable[bytes]) -> Iterator[bytes]:
    remaining = iter(keys)
    while some := list(islice(remaining, AT_ONCE)):
        yield elements.build_element_message(name, map(_pack_counted, some))


def _pack_counted(key: bytes) -> bytes:
    octets = int.from_bytes(os.urandom(4))
    data = pack_nested(_DATA, pack_attribute(_OCTETS, pack(">Q", octets)), pack_attribute(_PACKETS, pack(">Q", octets // 800 + 1)))
    counter = pack_nested(_EXPR, pack_attribute(_NAME, b"counter\0"), data)
    return pack_nested(_LIST_ELEM, pack_nested(_KEY, pack_attribute(_VALUE, key)), counter)
