"""A table with counted elements, and readings of its counters that a test can hold."""

import subprocess
from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Address
from struct import unpack
from threading import Event

from firewall import wire
from gateway.counter_reading import CounterReader
from gateway.kernel import KernelTable
from gateway.memory_table import FakeKernel
from gateway.table import ElementCounts
from tests.agent.client import PATIENCE
from tests.agent.conftest import Bench


def count(bench: Bench, name: str, counts: Mapping[bytes, tuple[int, int]]) -> None:
    """Set the counters of these IPv4 elements, which were zero, to these packets and octets."""
    if isinstance(bench.table, FakeKernel):
        for key, each in counts.items():
            bench.table.count(name, key, *each)
        return
    there = f"element inet netzwart {name}"
    before = ", ".join(str(IPv4Address(key)) for key in counts)
    after = ", ".join(f"{IPv4Address(key)} counter packets {packets} bytes {octets}" for key, (packets, octets) in counts.items())
    script = f"delete {there} {{ {before} }}\nadd {there} {{ {after} }}\n"
    bench.do(lambda: subprocess.run(["nft", "-f", "-"], input=script, check=True, capture_output=True, text=True))


def read(bench: Bench) -> wire.Reading:
    """Return a reading of all counters."""

    def reading() -> wire.Reading:
        counting = CounterReader(bench.table, {})
        for name in counting.sets:
            counting.read(name)
        return counting.build_reading(boot="boot", sequence=1, at=0)

    return bench.do(reading)


def name_counts(counts: wire.Counts) -> dict[bytes, tuple[int, int]]:
    """Return packets and octets of the IPv4 elements that have counted."""
    keys = [counts.keys[at : at + 4] for at in range(0, len(counts.keys), 4)]
    packets, octets = (unpack(f">{len(keys)}Q", column) for column in (counts.packets, counts.octets))
    return dict(zip(keys, zip(packets, octets, strict=True), strict=True))


class ReadingGate:
    """Holds readings before their second part until the gate is opened."""

    def __init__(self) -> None:
        self.begun, self.opened = Event(), Event()
        self.fault: Exception | None = None

    def through(self, parts: Iterator[None]) -> Iterator[None]:
        for _ in parts:
            self.begun.set()
            if not self.opened.wait(PATIENCE):
                raise AssertionError("nobody opened the gate")
            if self.fault:
                raise self.fault
            yield


class GatedFakeKernel(FakeKernel):
    """Table in memory with a reading gate."""

    def __init__(self, gate: ReadingGate) -> None:
        super().__init__()
        self._gate = gate

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        return self._gate.through(super().read_counts(name, known, into))


class GatedKernel(KernelTable):
    """Table on the kernel with a reading gate."""

    def __init__(self, gate: ReadingGate) -> None:
        super().__init__()
        self._gate = gate

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        return self._gate.through(super().read_counts(name, known, into))
