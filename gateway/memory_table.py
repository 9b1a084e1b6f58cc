"""A fake table in memory that accepts and refuses what the kernel would. Implements gateway.table.NftTable.

For tests, and for a gateway on a machine that allows no network namespaces. No packets pass it: `count` stands in for them.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from firewall.conntrack_timeouts import TimeoutsAre
from firewall.diff import Delta, ElementChange
from firewall.evidence import CollectEvidence, EvidenceKind
from firewall.flows import Flow, FlowFilter
from firewall.health import HealthCounters
from firewall.live_trace import Watch
from firewall.machine import InterfaceAddress, MachineInterface
from firewall.policy import Address, Profile
from firewall.profile import build_sysctls
from firewall.ruleset import EMPTY, Chain, Element, Elements, Ruleset, Set, UplinkShaper, iter_used_chains, iter_used_sets
from firewall.shaper import build_shaper_settings
from gateway.evidence.part import Deadline, PartReader, build_text
from gateway.progress import Progress
from gateway.table import (
    NOTHING_KNOWN,
    UNKNOWN_RULES,
    CommitRefusedError,
    DeletedCounts,
    ElementCounts,
    ShaperRefusedError,
    TableError,
    TraceSession,
    add_deleted_counts,
    approve_all,
)

# Defaults of Linux 6.1 on a machine with 8 GiB, except for forwarding
UNTUNED = build_sysctls(Profile(262_144, 262_144, 432_000, 120, 120, 60, 120, 30, 120, 30, 600))
INTERFACES = (
    MachineInterface("lan0", True, "02:00:00:00:00:01", "veth", (InterfaceAddress(ip_address("10.16.0.1"), 12),), False, False),
    MachineInterface("mgmt0", True, "02:00:00:00:00:02", "veth", (InterfaceAddress(ip_address("172.31.0.11"), 24),), False, False),
    MachineInterface("sync0", True, "02:00:00:00:00:03", "veth", (), False, False),
    MachineInterface("wan0", True, "02:00:00:00:00:04", "veth", (InterfaceAddress(ip_address("192.0.2.1"), 24),), True, False),
)
T = TypeVar("T")  # Python 3.11 has no syntax for type parameters
_PART = 256  # elements whose counters are read at once


class FakeKernel:
    """A kernel's table without a kernel."""

    in_memory = True
    lateness = 0.0

    def __init__(self) -> None:
        self.progress = Progress()
        self._held = EMPTY
        self._counts: dict[tuple[str, bytes], tuple[int, int]] = {}
        self._ended: dict[str, DeletedCounts] = {}
        self._table = 1
        self._disturbed = True
        self._name, self._generation = uuid4().hex, 0
        self.tracked: list[Flow] = []  # connections that tests pretend are open
        self.sysctls = dict(UNTUNED)
        self.untunable: dict[str, str] = {}  # sysctls that tests pretend cannot be set, and why
        self.queues: dict[str, str] = {}  # of the uplink, as in firewall/shaper.py
        self.unshapable = ""  # why tests pretend that the kernel can have no shaper
        self.interfaces = list(INTERFACES)
        self.indexes: dict[str, int] = {}  # of interfaces that tests pretend were made anew
        self.virtual_addresses: set[tuple[str, Address]] = set()  # that tests pretend the interfaces have
        self.filled: dict[str, int] = {}  # elements that tests pretend packets have added to dynamic sets

    def commit(self, delta: Delta, now: float, approve: Callable[[], object] = approve_all) -> None:
        """See NftTable."""
        approve()
        after = self._compute_ruleset(delta, now)
        gone = {(name, key) for name, change in delta.elements.items() for key in change.removed}
        for (name, key), count in self._counts.items():
            if (name, key) in gone or name in delta.sets:
                owner = self._held.elements[name][key].value if self._held.sets[name].has_owners else b""
                add_deleted_counts(self._ended.setdefault(name, {}), {(key, owner): count})
        self._counts = {at: count for at, count in self._counts.items() if at not in gone and at[0] not in delta.sets}
        self._held = after
        self._generation += 1

    def renew(self, ruleset: Ruleset, now: float) -> None:
        """See NftTable. Expiry times are stored as given, so only expired elements are removed."""
        self._expire(now)

    def take_deleted_counts(self) -> Mapping[str, DeletedCounts]:
        """See NftTable."""
        ended, self._ended = self._ended, {}
        return ended

    def check(self, delta: Delta, now: float) -> None:
        """See NftTable."""
        self._compute_ruleset(delta, now)

    def _compute_ruleset(self, delta: Delta, now: float) -> Ruleset:
        self._expire(now)
        held = self._held
        sets = _apply_changes("set", held.sets, {name: (each.before, each.after) for name, each in delta.sets.items()})
        chains = _apply_changes("chain", held.chains, {name: (each.before, each.after) for name, each in delta.chains.items()})
        if missing := delta.counters.removed - held.counters:
            raise CommitRefusedError(f"delete counter {min(missing)}: No such file or directory")
        counters = held.counters - delta.counters.removed | delta.counters.added
        elements = {name: {} if name in delta.sets else held.elements[name] for name in sets}
        for name, change in delta.elements.items():
            if name not in sets and name not in delta.sets:
                raise CommitRefusedError(f"{name}: there is no such set: No such file or directory")
            if name in sets:
                elements[name] = _apply_element_change(sets[name], elements[name], change, now, anew=name in delta.sets)
        after = Ruleset(chains, sets, elements, counters)
        _refuse_loose_ends(after)
        return after

    def _expire(self, now: float) -> None:
        gone = [
            (name, key)
            for name, declaration in self._held.sets.items()
            if declaration.timeout
            for key, element in self._held.elements[name].items()
            if 0 < element.expires <= now
        ]
        for name, key in gone:
            self._forget(name, key)

    def _forget(self, name: str, key: bytes) -> None:
        elements = {at: element for at, element in self._held.elements[name].items() if at != key}
        held = self._held
        self._held = Ruleset(held.chains, held.sets, {**held.elements, name: elements}, held.counters)
        self._counts.pop((name, key), None)

    def read(self, now: float, known: Mapping[str, Elements] = NOTHING_KNOWN) -> Ruleset:
        """See NftTable."""
        self._expire(now)
        self._disturbed = False
        held = self._held
        chains = {name: Chain(name, UNKNOWN_RULES, chain.hook) for name, chain in held.chains.items()}
        elements = {name: dict(known.get(name, each)) for name, each in held.elements.items()}
        return Ruleset(chains, dict(held.sets), elements, held.counters)

    def read_again(self, now: float, known: Mapping[str, Elements]) -> Ruleset:
        """See NftTable."""
        return self.read(now, known if not self._disturbed else NOTHING_KNOWN)

    def read_mark(self) -> str:
        """See NftTable."""
        return f"{self._name} {self._generation}"

    def read_declarations(self) -> dict[str, Set]:
        """See NftTable."""
        return dict(self._held.sets)

    def read_elements(self, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
        """See NftTable."""
        self._expire(now)
        held = self._held.elements[of.name]
        return {key: held[key] for key in keys if key in held}

    def get_handle(self) -> int | None:
        """See NftTable."""
        return self._table

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        """See NftTable. Elements that are added meanwhile are read only if they are in `known`."""
        remaining = iter((*self._held.elements.get(name, ()), *known))
        while some := list(islice(remaining, _PART)):
            if (there := self._held.elements.get(name)) is None:
                into.clear()
                return
            into.update({key: self._counts.get((name, key), (0, 0)) for key in some if key in there})
            yield

    def read_named_counters(self) -> Mapping[str, tuple[int, int]]:
        """See NftTable."""
        return dict.fromkeys(self._held.counters, (0, 0))

    def count_set_elements(self, name: str) -> int:
        """See NftTable."""
        return self.filled.get(name, 0)

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        """See NftTable. Always returns all connections."""
        return list(self.tracked)

    def cut(self, flows: Iterable[Flow]) -> int:
        """See NftTable."""
        ended = set(flows)
        before = len(self.tracked)
        self.tracked = [flow for flow in self.tracked if flow not in ended]
        return before - len(self.tracked)

    def tune(self, values: Mapping[str, str]) -> dict[str, str]:
        """See NftTable."""
        self.sysctls |= {name: value for name, value in values.items() if name not in self.untunable}
        return {name: self.untunable[name] for name in values if self.sysctls[name] != values[name]}

    def read_sysctls(self) -> dict[str, str]:
        """See NftTable."""
        return dict(self.sysctls)

    def shape(self, shaper: UplinkShaper | None) -> None:
        """See NftTable."""
        if shaper:
            self.check_shaper(shaper)
        self.queues = build_shaper_settings(shaper)

    def check_shaper(self, shaper: UplinkShaper) -> None:
        """See NftTable."""
        if shaper.interface not in {each.name for each in self.interfaces}:
            raise ShaperRefusedError(f"there is no interface {shaper.interface} whose queue could be set")
        if self.unshapable:
            raise ShaperRefusedError(self.unshapable)

    def read_shaper(self, interface: str) -> dict[str, str]:
        """See NftTable."""
        return dict(self.queues)

    def get_interface_index(self, interface: str) -> int:
        """See NftTable."""
        return self.indexes.get(interface, 1) if interface in {each.name for each in self.interfaces} else 0

    def count_connections(self) -> int:
        """See NftTable."""
        return len(self.tracked)

    def list_interfaces(self) -> list[MachineInterface]:
        """See NftTable. Made up, as in the lab."""
        return list(self.interfaces)

    def read_health(self, *, boot: str, agent: str, disk: Path) -> HealthCounters:
        """See NftTable. There is no machine: nothing is counted."""
        return HealthCounters(boot, time.monotonic_ns() // 1_000_000, time.time_ns() // 1_000_000, agent, (), (), {}, {})

    def read_timeouts(self, deadline: Deadline) -> TimeoutsAre:
        """See NftTable. Connections in memory do not end by time."""
        return TimeoutsAre((), 0, True, 0)

    def build_evidence_readers(self, request: CollectEvidence) -> Mapping[EvidenceKind, PartReader]:
        """See NftTable. There is no machine, only counters."""
        lines = [f"{name}: {packets} packets, {octets} octets" for name, (packets, octets) in sorted(self.read_named_counters().items())]
        return {EvidenceKind.COUNTERS: lambda _deadline: build_text(EvidenceKind.COUNTERS, lines)}

    def has_address(self, interface: str, address: Address) -> bool:
        """See NftTable."""
        return (interface, address) in self.virtual_addresses

    def read_nft_version(self) -> str:
        """See NftTable."""
        return ""

    def is_disturbed(self) -> bool:
        """See NftTable. Only `meddle` counts as another program."""
        return self._disturbed

    def trace(self, watch: Watch) -> TraceSession:
        """See NftTable. Always raises TableError."""
        raise TableError("this gateway's table is in memory: no packet passes it, so there is nothing to watch")

    def list_rule_handles(self) -> dict[str, list[int]]:
        """See NftTable."""
        return {name: list(range(len(chain.rules))) for name, chain in self._held.chains.items()}

    def fingerprint_chains(self) -> dict[str, str]:
        """See NftTable."""
        return {name: repr(chain) for name, chain in self._held.chains.items()}

    def close(self) -> None:
        """Do nothing: there are no handles."""

    def count(self, name: str, key: bytes, packets: int, octets: int) -> None:
        """Count packets and octets, as if packets had matched the element."""
        before = self._counts.get((name, key), (0, 0))
        self._counts[name, key] = before[0] + packets, before[1] + octets

    def meddle(self, ruleset: Ruleset) -> None:
        """Replace the table's content, as if another program had loaded this ruleset."""
        self._held, self._disturbed = ruleset, True
        self._generation += 1


def _apply_changes(kind: str, held: Mapping[str, T], changes: Mapping[str, tuple[T | None, T | None]]) -> dict[str, T]:
    for name, (before, _) in changes.items():
        if before is not None and name not in held:
            raise CommitRefusedError(f"delete {kind} {name}: No such file or directory")
    kept = {name: each for name, each in held.items() if name not in changes}
    return kept | {name: after for name, (_, after) in changes.items() if after is not None}


def _apply_element_change(of: Set, held: Mapping[bytes, Element], change: ElementChange, now: float, *, anew: bool) -> dict[bytes, Element]:
    after = dict(held)
    for key, element in change.removed.items() if not anew else ():
        if 0 < element.expires <= now:
            continue
        if key not in after:
            raise CommitRefusedError(f"{of.name}: delete element: No such file or directory")
        del after[key]
    for key, element in change.added.items():
        if 0 < element.expires <= now:
            continue
        if after.setdefault(key, element).value != element.value:
            raise CommitRefusedError(f"{of.name}: add element: File exists")
    if len(after) > of.size:
        raise CommitRefusedError(f"{of.name}: add element: Too many open files in system")
    return after


def _refuse_loose_ends(ruleset: Ruleset) -> None:
    for chain in ruleset.chains.values():
        for kind, used, there in (("set", iter_used_sets(chain), ruleset.sets), ("chain", iter_used_chains(chain), ruleset.chains)):
            for name in used:
                if name not in there:
                    raise CommitRefusedError(f"chain {chain.name}: there is no {kind} {name}: No such file or directory")
