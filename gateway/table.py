"""Our table as the agent sees it: what the kernel can do, and what the kernel in memory can do as well.

Times are Unix seconds. Every method may raise TableError; after it nothing has changed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from firewall.diff import Delta
from firewall.flows import Flow, FlowFilter
from firewall.live_trace import Headers, Watch
from firewall.ruleset import Element, Rule, Ruleset, Set
from gateway.progress import Progress

UNKNOWN_RULES = (Rule((), comment="rules as the kernel holds them, which nobody reads back"),)


class TableError(Exception):
    """The kernel did not do it. The message carries its own words."""


class CommitRefusedError(TableError):
    """The transaction was refused as a whole, so nothing has changed."""


@dataclass(frozen=True, slots=True)
class TraceMessage:
    """One thing that became of a traced packet. id: the kernel's, which it uses again; with the mark COMES a packet begins.

    handle: of the rule that matched, 0 for a policy. The rest as in firewall.live_trace.Event.
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


ElementCounts: TypeAlias = dict[bytes, tuple[int, int]]  # packets and octets of a set's elements, by their keys


DeletedCounts: TypeAlias = dict[
    tuple[bytes, bytes], tuple[int, int]
]  # the same of elements that are gone, by key and owner (b"": nobody's)


def add_deleted_counts(to: DeletedCounts, more: DeletedCounts) -> None:
    """An element may end, be there again and end once more before anybody asks: both counts are what it had."""
    for at, (packets, octets) in more.items():
        had = to.get(at, (0, 0))
        to[at] = had[0] + packets, had[1] + octets


class TraceSession(Protocol):
    """A live trace that goes on until it is closed."""

    lost: bool

    def heard(self) -> Iterator[TraceMessage]:
        """What was told since, without waiting."""

    def close(self) -> None:
        """Nothing is marked any more."""


class NftTable(Protocol):
    """The table `inet netzwart`, and never another."""

    in_memory: bool
    progress: Progress

    @property
    def lateness(self) -> float:
        """Seconds by which some elements may end too late, because the machine was too slow to put that right."""

    def commit(self, delta: Delta, now: float) -> None:
        """Make the delta so, all of it or nothing. What has expired is neither added nor deleted. Its profile is set by `tune`.

        now: when it is called. However long the work takes, elements end at their time and not later by as long.
        """

    def renew(self, ruleset: Ruleset, now: float) -> None:
        """Let the elements that are there and have an end in the ruleset end then: the clock was moved. Those of the past end at once."""

    def ended(self) -> Mapping[str, DeletedCounts]:
        """What the elements that `commit` has deleted since the last call had counted in the end, by set; without those that had nothing.

        Told once. Elements that end by their time are not among them.
        """

    def check(self, delta: Delta, now: float) -> None:
        """Would `commit` accept it?"""

    def read(self, now: float) -> Ruleset:
        """Everything that the table holds, with UNKNOWN_RULES in each chain; EMPTY when there is no table. Without a profile.

        Remaining times become absolute ones, which the kernel's rounding may put off by a second.
        """

    def declarations(self) -> dict[str, Set]:
        """How the sets and maps are declared."""

    def elements(self, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
        """Those of the elements that are there."""

    def handle(self) -> int | None:
        """The number the kernel gave the table; another one means that all counters began anew. None when there is no table."""

    def tally(self, name: str, known: Iterable[bytes], into: ElementCounts) -> Iterator[None]:
        """Read the counters of a set's elements, part after part. Meanwhile the table may be changed, also on another thread.

        An element that is there from the first part to the last is read, if it is one of `known` or nothing was changed. One that
        was deleted and added again has one of its two counts. A set that vanishes has no elements.
        """

    def occupied(self, name: str) -> int:
        """How many elements the set has, 0 if there is none of this name. May be called on another thread, beside everything else."""

    def flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        """Tracked connections of the gateway, whichever table's rules let them pass: all, or at least those that lead there, each once."""

    def cut(self, flows: Iterable[Flow]) -> int:
        """End these connections; how many were still there. Their next packets are those of new ones."""

    def named_counters(self) -> Mapping[str, tuple[int, int]]:
        """Packets and octets of the named counters alone, which costs the same whatever the sets hold."""

    def disturbed(self) -> bool:
        """Has anybody else committed a transaction, to whichever table, since the last `read`? True before the first."""

    def tune(self, values: Mapping[str, str]) -> dict[str, str]:
        """Set these sysctls (firewall/profile.py). Never fails: comes out why some could not be set, by name (gateway/sysctl.py)."""

    def tuned(self) -> dict[str, str]:
        """What the kernel holds of all sysctls that may be set. May be called on another thread, beside everything else."""

    def connections(self) -> int:
        """How many connections are tracked. May be called on another thread, beside everything else."""

    def trace(self, watch: Watch) -> TraceSession:
        """Begin to mark packets; our own table stays as it is, and `disturbed` does not see it."""

    def rule_handles(self) -> Mapping[str, Sequence[int]]:
        """For each chain the numbers that the kernel gave its rules, in their order. No number is ever used again."""

    def listing(self) -> dict[str, str]:
        """For each chain a text to compare with an earlier one: it differs if anybody wrote to the chain, whatever it counted."""
