"""The interface of our nftables table as the agent sees it, implemented by the kernel and by a fake in memory.

Times are Unix seconds. Every method may raise TableError; nothing has changed then.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from firewall.conntrack_timeouts import TimeoutsAre
from firewall.diff import Delta
from firewall.evidence import CollectEvidence, EvidenceKind
from firewall.flows import Flow, FlowFilter
from firewall.health import HealthCounters
from firewall.live_trace import Headers, Watch
from firewall.machine import MachineInterface
from firewall.policy import Address
from firewall.ruleset import Element, Elements, Rule, Ruleset, Set, UplinkShaper
from gateway.evidence.part import Deadline, PartReader
from gateway.progress import Progress

UNKNOWN_RULES = (Rule((), comment="rules as the kernel holds them, which nobody reads back"),)


class TableError(Exception):
    """The kernel did not do the operation. The message quotes the kernel."""


class CommitRefusedError(TableError):
    """The kernel refused the whole transaction, so nothing has changed."""


class NotApprovedError(TableError):
    """Whoever asked for a commit did not approve it in the end, so nothing has changed."""


def approve_all() -> None:
    """Approve a commit about which nothing is to be found out meanwhile."""


class ShaperRefusedError(CommitRefusedError):
    """The kernel cannot have this shaper. The message says what it lacks, and where that is."""


@dataclass(frozen=True, slots=True)
class TraceMessage:
    """One trace message of the kernel about a packet.

    id: the kernel's, which it reuses; a message with the mark COMES begins a new packet. handle: of the rule that matched, 0 for a
    policy. The other fields are those of firewall.live_trace.Event.
    """

    id: int
    mark: str
    table: str
    chain: str
    handle: int
    verdict: str
    to: str
    came: str
    goes: str
    headers: Headers | None


NOTHING_KNOWN: Final[Mapping[str, Elements]] = MappingProxyType({})


ElementCounts: TypeAlias = dict[bytes, tuple[int, int]]  # packets and octets of a set's elements, by their keys


DeletedCounts: TypeAlias = dict[tuple[bytes, bytes], tuple[int, int]]  # the same of deleted elements, by key and owner (b"": no owner)


def add_deleted_counts(to: DeletedCounts, more: DeletedCounts) -> None:
    """Add `more` to `to`, element by element.

    Counts are summed because an element may be deleted, added and deleted again before the portal asks.
    """
    for at, (packets, octets) in more.items():
        had = to.get(at, (0, 0))
        to[at] = had[0] + packets, had[1] + octets


class TraceSession(Protocol):
    """A live trace that runs until it is closed. `lost`: the kernel sent more messages than the socket could hold."""

    lost: bool

    def iter_messages(self) -> Iterator[TraceMessage]:
        """Return the messages that have arrived since the last call, without waiting."""

    def close(self) -> None:
        """Stop marking packets."""


class NftTable(Protocol):
    """The table `inet netzwart`, and never another one."""

    in_memory: bool
    progress: Progress

    @property
    def lateness(self) -> float:
        """Seconds by which some elements may expire too late, because the machine was too slow to correct it."""

    def commit(self, delta: Delta, now: float, approve: Callable[[], object] = approve_all) -> None:
        """Apply the whole delta or nothing.

        approve: called before a packet sees anything of the delta. If it raises NotApprovedError, nothing has changed.
        Expired elements are neither added nor deleted. The delta's kernel settings are not set here, but by `tune` and
        `shape`. now: the time of the call. Elements expire at their time, however long the work takes.
        """

    def renew(self, ruleset: Ruleset, now: float) -> None:
        """Set the expiry of the existing elements to that of the ruleset, after the clock was moved.

        Elements of the past expire at once.
        """

    def take_deleted_counts(self) -> Mapping[str, DeletedCounts]:
        """Return the final counts of the elements that `commit` has deleted since the last call, by set.

        Each count is returned once. Elements that counted nothing and elements that expired are not included.
        """

    def check(self, delta: Delta, now: float) -> None:
        """Raise TableError if `commit` would refuse the delta, as far as that shows without looking at each element."""

    def read(self, now: float, known: Mapping[str, Elements] = NOTHING_KNOWN) -> Ruleset:
        """Return everything that the table holds, with UNKNOWN_RULES in each chain and no kernel settings; EMPTY if there is no table.

        Remaining times become absolute ones, which may be off by a second because the kernel rounds. known: elements of sets, which are
        believed instead of being read.
        """

    def read_again(self, now: float, known: Mapping[str, Elements]) -> Ruleset:
        """Return the same as `read`, but believe the elements of sets that no other program may have changed since the last `read`.

        known: the elements of all sets then, with our own changes since.
        """

    def read_mark(self) -> str:
        """Return a text that any transaction of any program changes, another boot and another network namespace too.

        "" if this kernel cannot tell.
        """

    def read_declarations(self) -> dict[str, Set]:
        """Return the declarations of the sets and maps, by name."""

    def read_elements(self, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
        """Return those of the elements that exist."""

    def get_handle(self) -> int | None:
        """Return the kernel's handle of the table, None if there is no table. A new handle means that all counters began at zero again."""

    def read_counts(self, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
        """Read the counters of a set's elements into `into`, part by part. The table may be changed meanwhile, also on another thread.

        An element that exists from the first part to the last is read if it is in `known`; others may be. An element that was
        deleted and added again has one of its two counts. A set that vanishes has no elements.
        """

    def count_set_elements(self, name: str) -> int:
        """Return the number of elements in the set, 0 if there is no such set. May be called on another thread, beside everything else."""

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        """Return the gateway's tracked connections, whichever table's rules accepted them, each once.

        toward: return at least those that match a filter; None: all. May be called on another thread, beside everything else.
        """

    def cut(self, flows: Iterable[Flow]) -> int:
        """End these connections and return how many still existed. Their next packets begin new connections.

        May be called on another thread, beside everything else.
        """

    def read_named_counters(self) -> Mapping[str, tuple[int, int]]:
        """Return packets and octets of the named counters alone. The cost does not depend on the sets. May be called on any thread."""

    def is_disturbed(self) -> bool:
        """True if another program may have changed the table since the last `read`. True before the first."""

    def tune(self, values: Mapping[str, str]) -> dict[str, str]:
        """Set these sysctls (firewall/profile.py). Never fails: returns by name why some could not be set (gateway/sysctl.py)."""

    def read_sysctls(self) -> dict[str, str]:
        """Return the kernel's values of all sysctls that may be set. May be called on another thread, beside everything else."""

    def shape(self, shaper: UplinkShaper | None) -> None:
        """Set the queues of the uplink; None: as the kernel makes them by itself.

        Raises ShaperRefusedError; they may be set in part then.
        """

    def check_shaper(self, shaper: UplinkShaper) -> None:
        """Raise ShaperRefusedError if the kernel lacks what the shaper needs. Nothing is changed."""

    def read_shaper(self, interface: str) -> dict[str, str]:
        """Return the queues of this uplink, as in firewall/shaper.py."""

    def get_interface_index(self, interface: str) -> int:
        """Return the kernel's index of the interface, which a new one of this name does not get again; 0 if there is none.

        May be called on another thread, beside everything else.
        """

    def count_connections(self) -> int:
        """Return the number of tracked connections. May be called on another thread, beside everything else."""

    def list_interfaces(self) -> list[MachineInterface]:
        """Return the network interfaces without loopback, by name."""

    def read_health(self, *, boot: str, agent: str, disk: Path) -> HealthCounters:
        """Return what the machine has counted. May be called on another thread, beside everything else."""

    def read_timeouts(self, deadline: Deadline) -> TimeoutsAre:
        """Return the remaining times of all connections. May be called on another thread, beside everything else."""

    def build_evidence_readers(self, request: CollectEvidence) -> Mapping[EvidenceKind, PartReader]:
        """Return what reads the parts of the evidence that come from the machine. They may be called on other threads."""

    def has_address(self, interface: str, address: Address) -> bool:
        """True if the interface has this address. May be called on another thread, beside everything else."""

    def read_nft_version(self) -> str:
        """Return the version of the library that compiles the rules, "" for a table without one."""

    def trace(self, watch: Watch) -> TraceSession:
        """Begin to mark packets. Our own table stays as it is, and `disturbed` does not count this transaction."""

    def list_rule_handles(self) -> Mapping[str, Sequence[int]]:
        """Return the kernel's handles of the rules of each chain, in order. The kernel never reuses a handle."""

    def fingerprint_chains(self) -> dict[str, str]:
        """Return a fingerprint of each chain. It changes if another program writes to the chain, but not when rules count packets."""
