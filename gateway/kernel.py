"""The kernel's own table: changed in transactions, read back value by value. Implements gateway.table.NftTable.

Elements go over raw netlink, which is several times as fast as text; chains and declarations go through libnftables, which can
compile rules. Never touches a table other than `inet netzwart`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
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
from firewall.ruleset import (
    EMPTY,
    TABLE,
    Chain,
    Element,
    Hook,
    HookPriority,
    Ruleset,
    Set,
    Type,
    UplinkShaper,
    VerdictAction,
    compute_width,
)
from gateway import elements as codec
from gateway import interfaces, netlink, sysctl
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
from gateway.keyed_reading import iter_answers, iter_keyed_counts, note_counts
from gateway.libnftables import Libnftables
from gateway.load_plan import iter_change_batches, sample_delta, split_prefill
from gateway.netlink import Netlink, SocketPool, iter_attribute_spans, pack_text, parse_attribute_text, parse_attributes, parse_number
from gateway.progress import Progress
from gateway.shaper import check_shaper, read_shaper, write_shaper
from gateway.table import UNKNOWN_RULES, CommitRefusedError, DeletedCounts, ElementCounts, TableError, add_deleted_counts, approve_all

# linux/netfilter/nf_tables.h
_TABLE_NAME, _TABLE_HANDLE = 1, 4
_CHAIN_TABLE, _CHAIN_NAME, _CHAIN_HOOK, _CHAIN_POLICY, _CHAIN_TYPE = 1, 3, 4, 5, 7
_HOOK_NUMBER, _HOOK_PRIORITY = 1, 2
_CHAIN_ITSELF = (2, 4, 5, 7, 10)  # handle, hook, policy, type, flags; not counts, nor the number of rules that use it
_RULE_TABLE, _RULE_CHAIN, _RULE_HANDLE, _RULE_EXPRESSIONS, _EXPRESSION_NAME = 1, 2, 3, 4, 1
_SET_TABLE, _SET_NAME, _SET_FLAGS, _SET_KEY_TYPE, _SET_DATA_TYPE, _SET_DESCRIPTION, _SET_EXPR, _SET_EXPRESSIONS = 1, 2, 3, 4, 6, 9, 17, 18
_SET_DATA_LENGTH = 7
_SET_LIVES = 11
_DESCRIPTION_SIZE = 1
_ANONYMOUS, _MAP, _TIMEOUT, _DYNAMIC = 0x1, 0x8, 0x10, 0x20
_KNOWN_FLAGS = _MAP | _TIMEOUT | _DYNAMIC | 0x100  # NFT_SET_EXPR; not interval, constant or objects: ours are none of these
_OBJECT_TABLE, _OBJECT_NAME, _OBJECT_TYPE, _OBJECT_DATA = 1, 2, 3, 4
_COUNTER_OBJECT = 1
_COUNTER_OCTETS, _COUNTER_PACKETS = 1, 2
_GENERATION = 1

log = logging.getLogger("gateway")

_HOOKS = ("prerouting", "input", "forward", "output", "postrouting")  # NF_INET_*, in the order of their numbers
_TYPE_NUMBERS = {7: Type.IPV4, 8: Type.IPV6, 12: Type.PROTO, 13: Type.PORT}  # nft's TYPE_*, six bits each in a concatenation
_Step: TypeAlias = tuple[str, int, bytes]  # set, kind and attributes of a message
_CHECKED_AT_MOST = 1024  # elements of each set that nft checks
_ASK_AT_MOST = 4096  # for more keys than this a dump of the set is cheaper


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
        with self._keep_counts(_count_ending(delta)):
            self._commit(delta, lambda: now + monotonic() - began, approve)

    @contextmanager
    def _keep_counts(self, ending: int) -> Iterator[None]:
        """Keep the final counts of the elements that are deleted meanwhile.

        ending: how many elements of counted sets are deleted, at least.
        """
        if not ending:
            yield
            return
        with self._notices.listen(ending):
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
        """Add elements to sets that no rule uses yet. Elements that expire come last, and are encoded when their transaction begins."""
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

    def read(self, now: float) -> Ruleset:
        """See NftTable."""
        self._foreign.settle(self._read_generation())
        self.progress.begin("reading")
        if self.get_handle() is None:
            return EMPTY
        declared = self.read_declarations()
        return Ruleset(
            {each.name: each for each in self._read_chains()},
            declared,
            {name: {} if each.dynamic else self._dump(each, now) for name, each in declared.items()},
            frozenset(name for name, _ in _iter_named_counters(self._netlink)),
        )

    def read_declarations(self) -> dict[str, Set]:
        """See NftTable."""
        found = (_parse_declaration(parse_attributes(body)) for body in _dump_table_objects(self._netlink, netlink.GETSET, _SET_TABLE))
        return {each.name: each for each in found if each}

    def _read_chains(self) -> Iterator[Chain]:
        for body in _dump_table_objects(self._netlink, netlink.GETCHAIN, _CHAIN_TABLE):
            given = parse_attributes(body)
            yield Chain(parse_attribute_text(given[_CHAIN_NAME]), UNKNOWN_RULES, _parse_hook(given))

    def _dump(self, of: Set, now: float) -> dict[bytes, Element]:
        found: dict[bytes, Element] = {}
        for columns in self._read_columns(of.name):
            found |= columns.to_elements(now, owned=of.has_owners)
        return found

    def _read_columns(self, name: str) -> Iterator[codec.ElementColumns]:
        for body in self._netlink.dump(netlink.GETSETELEM, codec.pack_set_reference(name)):
            yield from codec.decode(body)

    def read_elements(self, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
        """See NftTable."""
        wanted = list(keys)
        if len(wanted) > _ASK_AT_MOST:
            found = self._dump(of, now)
            return {key: found[key] for key in wanted if key in found}
        found = {}
        for bodies in iter_answers(self._netlink, of.name, wanted):
            for columns in (columns for body in bodies for columns in codec.decode(body)):
                found |= columns.to_elements(now, owned=of.has_owners)
        return found

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        """See NftTable. Uses a socket of its own."""
        with self._others.borrow() as own:
            try:
                if len(known) > self.most_dumped:
                    yield from iter_keyed_counts(own, name, known, into)
                else:
                    yield from _iter_dumped_counts(own, name, known, into)
            except netlink.MissingObjectError:
                into.clear()

    def read_named_counters(self) -> Mapping[str, tuple[int, int]]:
        """See NftTable. Has a socket of its own: two threads at one socket take each other's answers, and wait for ever."""
        with self._others.borrow() as own:
            return dict(_iter_named_counters(own))

    def count_set_elements(self, name: str) -> int:
        """See NftTable."""
        with self._others.borrow() as own:
            try:
                return sum(codec.count(body) for body in own.dump(netlink.GETSETELEM, codec.pack_set_reference(name)))
            except netlink.MissingObjectError:
                return 0

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

    def count_connections(self) -> int:
        """See NftTable."""
        return sysctl.count_connections()

    def list_interfaces(self) -> list[MachineInterface]:
        """See NftTable."""
        return interfaces.list_interfaces()

    def read_health(self, *, boot: str, agent: str, disk: Path) -> HealthCounters:
        """See NftTable."""
        with self._others.borrow() as own:
            packets = {name: packets for name, (packets, _octets) in _iter_named_counters(own)}
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
        handles: dict[str, list[int]] = {}
        for body in _dump_table_objects(self._netlink, netlink.GETRULE, _RULE_TABLE):
            given = parse_attributes(body)
            handles.setdefault(parse_attribute_text(given[_RULE_CHAIN]), []).append(parse_number(given[_RULE_HANDLE]))
        return handles

    def fingerprint_chains(self) -> dict[str, str]:
        """See NftTable. The fingerprints are hashes of what the kernel dumps (nft would read every element and print none)."""
        chains = {}
        for body in _dump_table_objects(self._netlink, netlink.GETCHAIN, _CHAIN_TABLE):
            given = parse_attributes(body)
            chains[parse_attribute_text(given[_CHAIN_NAME])] = blake2b(
                repr([given.get(kind) for kind in _CHAIN_ITSELF]).encode(), digest_size=16
            )
        for body in _dump_table_objects(self._netlink, netlink.GETRULE, _RULE_TABLE):
            chain = chains.get(parse_attribute_text(parse_attributes(body)[_RULE_CHAIN]))
            if chain:
                chain.update(_strip_counts(body))
        return {name: seen.hexdigest() for name, seen in chains.items()}

    def get_handle(self) -> int | None:
        """See NftTable."""
        [body] = self._netlink.ask(netlink.GETTABLE, [pack_text(_TABLE_NAME, TABLE)])
        return None if body is None else parse_number(parse_attributes(body)[_TABLE_HANDLE])


def _read_counters_part(_deadline: Deadline) -> PartContent:
    with closing(Netlink()) as own:
        lines = [f"{name}: {packets} packets, {octets} octets" for name, (packets, octets) in sorted(_iter_named_counters(own))]
    return build_text(EvidenceKind.COUNTERS, lines)


def _dump_table_objects(over: Netlink, kind: int, table_attribute: int) -> list[bytes]:
    """Return the messages about objects of our table. Some kernels also send those of other tables, whatever the request says."""
    ours = pack_text(table_attribute, TABLE)
    try:
        return [body for body in over.dump(kind, ours) if body.startswith(ours)]
    except netlink.MissingObjectError:
        return []


def _iter_named_counters(over: Netlink) -> Iterator[tuple[str, tuple[int, int]]]:
    for body in _dump_table_objects(over, netlink.GETOBJ, _OBJECT_TABLE):
        given = parse_attributes(body)
        if parse_number(given[_OBJECT_TYPE]) == _COUNTER_OBJECT:
            counts = parse_attributes(given[_OBJECT_DATA])
            yield (
                parse_attribute_text(given[_OBJECT_NAME]),
                (parse_number(counts[_COUNTER_PACKETS]), parse_number(counts[_COUNTER_OCTETS])),
            )


def _iter_dumped_counts(own: Netlink, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
    """Read the counters of all elements. Those of `known` that the dump left out are requested by key."""
    whole = True
    for bodies, undisturbed in own.iter_dump(netlink.GETSETELEM, codec.pack_set_reference(name)):
        whole = whole and undisturbed
        note_counts(bodies, into)
        yield
    missing = [key for key in known if key not in into]
    if not whole or len(missing) <= _ASK_AT_MOST:  # otherwise nothing was left out: another program emptied the set
        yield from iter_keyed_counts(own, name, missing, into)


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


def _strip_counts(rule: bytes) -> bytes:
    """Return a rule's attributes without the data of its own counters, which change with every packet."""
    parts, kept = [], 0
    for kind, start, end in iter_attribute_spans(rule):
        for _, begin, stop in iter_attribute_spans(rule, start, end) if kind == _RULE_EXPRESSIONS else ():
            if parse_attributes(rule[begin:stop]).get(_EXPRESSION_NAME) == b"counter\0":
                parts.append(rule[kept:begin])
                kept = stop
    return b"".join(parts) + rule[kept:]


def _parse_declaration(given: dict[int, bytes]) -> Set | None:
    """Parse a set's declaration; None for anonymous sets, which belong to rules."""
    flags = parse_number(given.get(_SET_FLAGS, b""))
    if flags & _ANONYMOUS:
        return None
    known = not flags & ~_KNOWN_FLAGS
    size = parse_attributes(given.get(_SET_DESCRIPTION, b"")).get(_DESCRIPTION_SIZE, b"")
    value = _parse_types(parse_number(given.get(_SET_DATA_TYPE, b""))) if flags & _MAP else ()
    return Set(
        parse_attribute_text(given[_SET_NAME]),
        _parse_types(parse_number(given.get(_SET_KEY_TYPE, b""))) if known else (),
        parse_number(size),
        value,
        counter=(_SET_EXPR in given or _SET_EXPRESSIONS in given) and not codec.is_limit(given.get(_SET_EXPR, b"")),
        timeout=bool(flags & _TIMEOUT and not flags & _DYNAMIC),
        ranges=bool(value) and parse_number(given.get(_SET_DATA_LENGTH, b"")) == 2 * compute_width(value),
        dynamic=bool(flags & _DYNAMIC),
        lives=parse_number(given.get(_SET_LIVES, b"")) // 1000,
        polices=codec.is_limit(given.get(_SET_EXPR, b"")),
    )


def _parse_types(concatenated: int) -> tuple[Type, ...]:
    """Split nft's concatenated type number: six bits for each type, the last type lowest.

    Types that are not ours are left out, so that the declaration differs from ours.
    """
    types = []
    while concatenated:
        types.append(_TYPE_NUMBERS.get(concatenated & 0x3F))
        concatenated >>= 6
    return tuple(each for each in reversed(types) if each)


def _parse_hook(given: dict[int, bytes]) -> Hook | None:
    if _CHAIN_HOOK not in given:
        return None
    hook = parse_attributes(given[_CHAIN_HOOK])
    at, priority = parse_number(hook[_HOOK_NUMBER]), int.from_bytes(hook[_HOOK_PRIORITY], signed=True)
    kind, name = parse_attribute_text(given.get(_CHAIN_TYPE, b"")), _HOOKS[at] if at < len(_HOOKS) else f"hook-{at}"
    policy = VerdictAction.ACCEPT if parse_number(given.get(_CHAIN_POLICY, b"\1")) else VerdictAction.DROP
    if priority not in set(HookPriority):
        return Hook(f"{kind}-at-{priority}", name, HookPriority.FILTER, policy)  # no compiled chain has such a hook
    return Hook(kind, name, HookPriority(priority), policy)
