"""The kernel's own table: changed in transactions, read back value by value. Implements gateway.table.NftTable.

Elements go over raw netlink, which is several times as fast as text; chains and declarations go through libnftables, which can
compile rules. What is read is parsed by table_objects.py and element_reading.py. Never touches a table other than `inet netzwart`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from firewall.conntrack_timeouts import TimeoutsAre
from firewall.diff import Delta, ElementChange
from firewall.evidence import CollectEvidence, EvidenceKind
from firewall.flows import Flow, FlowFilter
from firewall.health import HealthCounters
from firewall.live_trace import Watch
from firewall.machine import MachineInterface
from firewall.policy import Address
from firewall.render import render_delta
from firewall.ruleset import EMPTY, Element, Elements, Ruleset, Set, UplinkShaper
from gateway import element_reading, interfaces, netlink, sysctl, table_objects
from gateway import elements as codec
from gateway.ahead import iter_ahead
from gateway.conntrack import Conntrack
from gateway.conntrack_timeouts import read_timeouts
from gateway.deleted_element_counters import DeletionListener
from gateway.element_renewal import ExpiryCorrection, UnixClock
from gateway.evidence.part import Deadline, PartContent, PartReader, build_text
from gateway.evidence.readers import build_machine_readers
from gateway.foreign_transactions import ForeignTransactions
from gateway.health.reading import read_health
from gateway.kernel_trace import Tracer
from gateway.libnftables import Libnftables
from gateway.load_plan import iter_change_batches, sample_delta, split_prefill
from gateway.machine import read_boot_id
from gateway.netlink import Netlink, SocketPool
from gateway.netlink_attributes import parse_attributes, parse_number
from gateway.progress import Progress
from gateway.shaper import check_shaper, read_shaper, write_shaper
from gateway.table import (
    NOTHING_KNOWN,
    CommitRefusedError,
    DeletedCounts,
    ElementCounts,
    TableError,
    add_deleted_counts,
    approve_all,
)

_GENERATION = 1  # linux/netfilter/nf_tables.h

log = logging.getLogger("gateway")

_Step: TypeAlias = tuple[str, int, bytes]  # set, kind and attributes of a message
_CHECKED_AT_MOST = 1024  # elements of each set that nft checks


class KernelTable:
    """The table in the network namespace of the thread that creates this object."""

    in_memory = False
    most_dumped = 65_536
    """Elements of a set whose counters are read by a dump; those of a larger set are asked for by key. Measured: docs/adr/0048."""

    def __init__(self) -> None:
        self.progress = Progress()
        self._netlink = Netlink()
        self._others, self._connections = SocketPool(), SocketPool(netlink.CONNTRACK)  # for other threads, and beside dumps
        self._notices = DeletionListener()
        self._nft = Libnftables()
        self._foreign = ForeignTransactions()
        self._ended: dict[str, DeletedCounts] = {}
        self._tracer: Tracer | None = None
        self._renewal = ExpiryCorrection(self._commit_elements, self.read_elements, self._keep_counts)

    def close(self) -> None:
        """Close the handles; the table stays."""
        self._netlink.close()
        self._others.close()
        self._connections.close()
        self._notices.close()
        self._foreign.close()
        self._nft.close()
        if self._tracer:
            self._tracer.close()

    def commit(self, delta: Delta, now: float, approve: Callable[[], object] = approve_all) -> None:
        """See NftTable."""
        began = monotonic()
        self.progress.begin("loading", _count_added(delta.elements))
        self._commit(delta, lambda: now + monotonic() - began, approve)

    @contextmanager
    def _keep_counts(self, ending: int, others: int = 0) -> Iterator[None]:
        """Keep the final counts of the elements that are deleted meanwhile.

        ending: how many elements of counted sets are deleted, at least. others: how many the kernel reports besides.
        """
        if not ending:
            yield
            return
        with self._notices.listen(ending + others):
            yield
            for name, tally in self._notices.iter_deleted_counts():
                add_deleted_counts(self._ended.setdefault(name, {}), tally)
            if self._notices.lost:
                log.error("the kernel did not report the final counts of all %d deleted elements: up to one interval is lost", ending)

    def take_deleted_counts(self) -> Mapping[str, DeletedCounts]:
        """See NftTable."""
        ended, self._ended = self._ended, {}
        return ended

    def _commit(self, delta: Delta, clock: UnixClock, approve: Callable[[], object]) -> None:
        """Commit the delta.

        New sets that are large or have expiring elements are filled before a rule uses them; packets see no difference. So approval
        may come later.
        """
        before, rest = split_prefill(delta)
        if not before:
            approve()
            self._commit_at_once(rest, clock)
            return
        self._commit_text(Delta(sets=before.sets), clock())
        try:
            self._fill(before.elements, clock)
            approve()
            self._commit_at_once(rest, clock)
        except TableError:
            self._commit_text(Delta(sets=before.sets).invert(), clock())
            approve()  # what is not approved is told as that, even if the kernel refuses it too
            raise

    def _fill(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        """Add elements to sets that no rule uses yet. Elements that expire come last, and are encoded when their transaction begins.

        Raises CommitRefusedError: packets have seen nothing of it, and nothing has changed once the sets are gone again.
        """
        try:
            self._fill_in_batches(changes, clock)
        except (TableError, OSError) as error:
            raise CommitRefusedError(str(error)) from error

    def _fill_in_batches(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        untimed = iter_change_batches(changes, timed=False)
        for steps, count in iter_ahead((_list_steps(some, 0), _count_added(some)) for some in untimed):
            self._run_steps(steps)
            self.progress.add(count)
        for some in iter_change_batches(changes, timed=True):
            self._renewal.commit_with_exact_expiry(some, clock)
            self.progress.add(_count_added(some))

    def _commit_at_once(self, delta: Delta, clock: UnixClock) -> None:
        """Commit the delta in one transaction. It stands even if renewing elements fails: reading back finds wrong expiry times."""
        written = clock()
        with self._keep_counts(_count_ending(delta), _count_added(delta.elements)):
            if delta.touches_rules:
                self._commit_text(delta, written)
            elif delta.elements:
                self._commit_elements(delta.elements, written)
            try:
                self._renewal.renew_if_late(delta.elements, written, clock)
            except TableError as error:
                log.warning("some elements will expire too late: %s", error)

    def _commit_text(self, delta: Delta, now: float) -> None:
        with self._foreign.count_own():
            self._nft.run(render_delta(delta, now=now))

    def _commit_elements(self, changes: Mapping[str, ElementChange], now: float) -> None:
        self._run_steps(_list_steps(changes, now))

    def _run_steps(self, steps: Sequence[_Step]) -> None:
        """Run the steps as one transaction. Raises CommitRefusedError, which names the step's set."""
        if not steps:
            return
        try:
            with self._foreign.count_own(sum(len(body) for _, _, body in steps)):
                self._netlink.transact([(kind, body) for _, kind, body in steps])
        except netlink.StepRefusedError as refused:
            name, kind, _ = steps[refused.step]
            verb = "delete" if kind == netlink.DELSETELEM else "add"
            raise CommitRefusedError(f"{name}: {verb} element: {refused}") from refused

    def renew(self, ruleset: Ruleset, now: float) -> None:
        """See NftTable."""
        began, self._renewal.lateness = monotonic(), 0.0
        changes = {name: ElementChange(of, {}, ruleset.elements[name]) for name, of in ruleset.sets.items() if of.timeout}
        self._renewal.renew(changes, lambda: now + monotonic() - began)

    @property
    def lateness(self) -> float:
        """See NftTable."""
        return self._renewal.lateness

    def check(self, delta: Delta, now: float) -> None:
        """See NftTable. Of large changes a sample is checked, for systematic errors: nft takes as long for a dry run as for a load."""
        self.progress.begin("checking")
        self._nft.check(render_delta(sample_delta(delta, _CHECKED_AT_MOST), now=int(now)))

    def read(self, now: float, known: Mapping[str, Elements] = NOTHING_KNOWN) -> Ruleset:
        """See NftTable."""
        return self._read(now, known, self._read_generation())

    def read_again(self, now: float, known: Mapping[str, Elements]) -> Ruleset:
        """See NftTable."""
        generation = self._read_generation()
        touched = self._foreign.list_touched_sets(generation)
        untouched = () if touched is None else known.keys() - touched
        return self._read(now, {name: known[name] for name in untouched}, generation)

    def _read(self, now: float, known: Mapping[str, Elements], generation: int) -> Ruleset:
        """Read what the table holds at this generation or later. What is committed meanwhile will count as a change of others."""
        self._foreign.settle(generation)
        self.progress.begin("reading")
        if self.get_handle() is None:
            return EMPTY
        declared = self.read_declarations()
        unknown = {name: each for name, each in declared.items() if name not in known}
        read = {name: {} if each.dynamic else element_reading.dump_elements(self._netlink, each, now) for name, each in unknown.items()}
        return Ruleset(
            table_objects.read_chains(self._netlink),
            declared,
            {name: read[name] if name in read else known[name] for name in declared},
            frozenset(table_objects.read_named_counters(self._netlink)),
        )

    def read_mark(self) -> str:
        """See NftTable. Elements that end by time, and those that packets add, raise no generation."""
        try:
            return f"{read_boot_id()} {self._netlink.namespace} {self._read_generation()}"
        except OSError as error:
            log.info("this kernel does not tell its network namespaces apart: %s", error)
            return ""

    def read_declarations(self) -> dict[str, Set]:
        """See NftTable."""
        return table_objects.read_declarations(self._netlink)

    def read_elements(self, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
        """See NftTable."""
        return element_reading.read_elements(self._netlink, of, keys, now)

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        """See NftTable. Uses a socket of its own."""
        with self._others.borrow() as own:
            yield from element_reading.iter_counts(own, name, known, into, most_dumped=self.most_dumped)

    def read_named_counters(self) -> Mapping[str, tuple[int, int]]:
        """See NftTable. Has a socket of its own: two threads at one socket take each other's answers, and wait for ever."""
        with self._others.borrow() as own:
            return table_objects.read_named_counters(own)

    def count_set_elements(self, name: str) -> int:
        """See NftTable."""
        with self._others.borrow() as own:
            return element_reading.count_elements(own, name)

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        """See NftTable."""
        with self._connections.borrow() as own:
            return Conntrack(own).list_flows(toward)

    def cut(self, flows: Iterable[Flow]) -> int:
        """See NftTable."""
        with self._connections.borrow() as own:
            return Conntrack(own).delete(flows)

    def tune(self, values: Mapping[str, str]) -> dict[str, str]:
        """See NftTable."""
        return sysctl.write_kernel_sysctls(values)

    def read_sysctls(self) -> dict[str, str]:
        """See NftTable."""
        return sysctl.read_kernel_sysctls()

    def shape(self, shaper: UplinkShaper | None) -> None:
        """See NftTable."""
        write_shaper(shaper)

    def check_shaper(self, shaper: UplinkShaper) -> None:
        """See NftTable."""
        check_shaper(shaper)

    def read_shaper(self, interface: str) -> dict[str, str]:
        """See NftTable."""
        return read_shaper(interface)

    def get_interface_index(self, interface: str) -> int:
        """See NftTable."""
        return interfaces.get_index(interface)

    def count_connections(self) -> int:
        """See NftTable."""
        return sysctl.count_connections()

    def list_interfaces(self) -> list[MachineInterface]:
        """See NftTable."""
        return interfaces.list_interfaces()

    def read_health(self, *, boot: str, agent: str, disk: Path) -> HealthCounters:
        """See NftTable."""
        with self._others.borrow() as own:
            packets = {name: packets for name, (packets, _octets) in table_objects.read_named_counters(own).items()}
        return read_health(packets, boot=boot, agent=agent, disk=disk)

    def read_timeouts(self, deadline: Deadline) -> TimeoutsAre:
        """See NftTable."""
        return read_timeouts(deadline)

    def build_evidence_readers(self, request: CollectEvidence) -> Mapping[EvidenceKind, PartReader]:
        """See NftTable."""
        return {EvidenceKind.COUNTERS: _read_counters_part, **build_machine_readers(request.interfaces, request.seconds)}

    def has_address(self, interface: str, address: Address) -> bool:
        """See NftTable."""
        return interfaces.has_address(interface, address)

    def read_nft_version(self) -> str:
        """See NftTable."""
        return self._nft.read_version()

    def is_disturbed(self) -> bool:
        """See NftTable."""
        return self._foreign.has_touched(self._read_generation())

    def _read_generation(self) -> int:
        """Return the ruleset's generation: each transaction to any table of this network namespace raises it by one."""
        [body] = self._netlink.ask(netlink.GETGEN, [b""], netlink.UNSPEC)
        return parse_number(parse_attributes(body or b"")[_GENERATION])

    def trace(self, watch: Watch) -> Tracer:
        """See NftTable. Creating the tracer's table is one transaction; removing it is none."""
        if self._tracer:
            self._tracer.close()
        with self._foreign.count_own(touches=False):
            self._tracer = Tracer(watch)
        return self._tracer

    def list_rule_handles(self) -> dict[str, list[int]]:
        """See NftTable."""
        return table_objects.list_rule_handles(self._netlink)

    def fingerprint_chains(self) -> dict[str, str]:
        """See NftTable."""
        return table_objects.fingerprint_chains(self._netlink)

    def get_handle(self) -> int | None:
        """See NftTable."""
        return table_objects.read_handle(self._netlink)


def _read_counters_part(_deadline: Deadline) -> PartContent:
    with closing(Netlink()) as own:
        counters = sorted(table_objects.read_named_counters(own).items())
    lines = [f"{name}: {packets} packets, {octets} octets" for name, (packets, octets) in counters]
    return build_text(EvidenceKind.COUNTERS, lines)


def _count_ending(delta: Delta) -> int:
    """Return the least number of elements of counted sets that are deleted."""
    return sum(len(change.removed) for change in delta.elements.values() if change.of.counter)


def _count_added(changes: Mapping[str, ElementChange]) -> int:
    return sum(len(change.added) for change in changes.values())


def _list_steps(changes: Mapping[str, ElementChange], now: float) -> list[_Step]:
    return list(_iter_steps(changes, now))


def _iter_steps(changes: Mapping[str, ElementChange], now: float) -> Iterator[_Step]:
    """Return set, kind and attributes of each message, all deletions first."""
    for name, change in changes.items():
        alive = (key for key, element in change.removed.items() if not 0 < element.expires <= now)
        yield from ((name, netlink.DELSETELEM, body) for body in codec.iter_deletion_messages(name, alive))
    for name, change in changes.items():
        yield from ((name, netlink.NEWSETELEM, body) for body in codec.iter_addition_messages(change.of, change.added, now))
