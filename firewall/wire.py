"""The protocol between portal and agent: versioned messages, as JSON lines of at most 1 MiB.

Each line is an object {"v": version, "id": number, "last": bool, "part": text}; the parts of one id make up one JSON text, a
request or its reply. Nothing that is received is executed: the agent gets values, and renders them itself. Both sides speak the
versions of `firewall.wire_versions`, and a reply is in the version of its request.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeAlias

from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, ReadProgram, StoreProgram, TryProgram
from firewall.codec import WireError, decode, encode
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre
from firewall.diff import Delta
from firewall.evidence import CollectEvidence, EvidenceCollected
from firewall.file_trial import FileTrial, FileTrialIs, InstallFiles, KeepFiles, RevertFiles
from firewall.health import HealthCounters, ReadHealth
from firewall.live_trace import Look, Seen, Watch, Watching
from firewall.machine import Describe, MachineFacts
from firewall.probe_messages import Probe, Probed, ProbesRead, ReadProbes
from firewall.profile import SysctlDifference
from firewall.roles import Drain, Roles, RolesAre
from firewall.ruleset import Elements, Ruleset
from firewall.running_elements import ElementsAre, ReadElements
from firewall.wire_versions import LACKING
from firewall.wire_versions import SPOKEN as SPOKEN
from firewall.wire_versions import VERSION as VERSION

MAX_LINE = 1 << 20
MAX_MESSAGE = 512 << 20
CONFIRM_WITHIN = range(1, 601)  # seconds
LONGEST_TEXT = 8192  # characters of a refusal's reason
LEAP_OBEYED = 1 << 40  # how far a fencing token may exceed the one before, for agents: room for millions of such leaps
LEAP_ADOPTED = 1_000_000  # the same for a portal with a database older than the gateways: more than years of rollouts
DRIFT_SHOWN = 1000  # elements of one set
_PART = MAX_LINE // 8  # characters; each may become six octets (\uXXXX) and the frame needs some too

Small: TypeAlias = Annotated[int, range(1 << 31)]  # counts and milliseconds: what the portal's integer columns take
Flows: TypeAlias = Annotated[int, range(-1, 1 << 31)]
Large: TypeAlias = Annotated[int, range(1 << 63)]
Time: TypeAlias = Annotated[int, range(1 << 34)]  # Unix seconds


class VersionError(WireError):
    """The other side speaks a version of this protocol that this side does not."""


class MessageLimits(NamedTuple):
    """Limits of a message: characters of its JSON text, and values in it.

    Both are counted before the text is parsed: a value of two characters takes some fifty octets of memory.
    """

    characters: int
    values: int


@dataclass(frozen=True, slots=True)
class ClockBound:
    """Bound on the portal's clock: when the agent's CLOCK_MONOTONIC stood at `steady`, Unix time there was `latest` or earlier.
    Milliseconds.
    """

    steady: int
    latest: int


@dataclass(frozen=True, slots=True)
class Hello:
    """Ask which agent this is and what it runs. `now`: Unix seconds that the request refers to, as in all messages; may be long past.

    token: the caller's fencing token; from then on the agent obeys no lower one. 0: none. sent: Unix milliseconds at the portal
    when this was written, 0 if it does not say. not_later: what the portal knows about the time from the last answer.
    """

    now: int
    token: int = 0
    sent: int = 0
    not_later: ClockBound | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Ask what would change if this ruleset were applied. Nothing is changed; nft checks the transaction."""

    now: int
    ruleset: Ruleset


@dataclass(frozen=True, slots=True)
class Apply:
    """Commit this change, in one transaction: a delta on top of `base`, or a whole ruleset whatever runs now.

    token: fencing token; the agent refuses one lower than it has seen. target: digest that the outcome must have at `now`.
    confirm_within: seconds, 1 to 600, after which the agent reverts by itself unless the change is confirmed.
    """

    token: int
    now: int
    base: str
    target: str
    delta: Delta | None
    ruleset: Ruleset | None
    confirm_within: int


@dataclass(frozen=True, slots=True)
class Confirm:
    """Keep what was applied: from now on the gateway boots with it.

    After `Applied.new_session` it must come over a connection opened since.
    """

    token: int
    target: str


@dataclass(frozen=True, slots=True)
class Revert:
    """Go back to the last confirmed ruleset now, instead of when the time is up."""

    token: int


@dataclass(frozen=True, slots=True)
class Digest:
    """Ask for the digest of what the kernel really holds, read anew."""

    now: int


@dataclass(frozen=True, slots=True)
class Drift:
    """Ask for everything in which the kernel differs from what the agent last committed, read anew. sent: as in Hello."""

    now: int
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Counters:
    """Ask for all counters as they stand, and for the final counts of deleted elements.

    log, acknowledged: log of the reading that was written down last, and the highest number of its `gone`: the agent does not send
    these again.
    """

    log: str
    acknowledged: int


@dataclass(frozen=True, slots=True)
class Gauges:
    """Ask how full the connection table and the sets that packets fill are, and for the kernel settings."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """Answer to Hello. `digest` is "" while the running ruleset is not known; `confirmed` is what the gateway boots with.

    trial: digest of what was applied and waits to be confirmed, "" if nothing does; confirm_seconds_left: time until it is
    reverted. applied: token of the last Apply that this agent committed since it started, 0 for none. disk: why the last attempt to
    write to the agent's disk failed; "" where no fault is known. damage: why the confirmed ruleset could not be restored when it
    had to be; "" once it is, or something newer was confirmed. clock, steady: milliseconds of the agent's Unix time and of its
    CLOCK_MONOTONIC when it answered.
    """

    name: str
    agent: str
    digest: str
    confirmed: str
    token: Large
    boot: str
    in_memory: bool
    trial: str
    confirm_seconds_left: Small
    applied: Large
    disk: str = ""
    damage: str = ""
    clock: Large = 0
    steady: Large = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """Answer to Plan: the changes to the running ruleset. `text` is the transaction as nft would be given it, cut at 256 KiB.

    settings: how many kernel settings would change.
    """

    digest: str
    added: Mapping[str, Small]
    removed: Mapping[str, Small]
    chains: tuple[str, ...]
    text: str
    settings: Small = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """Answer to Apply: committed and read back. Times in milliseconds.

    flows_cut: connections that bans and blocks ended, -1 if that failed (the change stands). new_session: confirm over a connection
    that is opened from now on, because an old one outlives a ruleset that locks everybody out.
    """

    digest: str
    elements: Small
    chains: Small
    commit_ms: Small
    read_back_ms: Small
    flows_cut: Flows
    new_session: bool


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Answer to Confirm. flows_cut: connections that were cut after the confirmation, -1 if that failed (the change is confirmed)."""

    digest: str
    flows_cut: Flows


@dataclass(frozen=True, slots=True)
class Reverted:
    """Answer to Revert: the digest that runs again, and a text that says what was done."""

    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class DigestIs:
    """Answer to Digest. rules_as_committed: True if the kernel's listing of chains is the one seen after the commit."""

    digest: str
    rules_as_committed: bool


@dataclass(frozen=True, slots=True)
class ElementDrift:
    """Differences of one set: elements that were committed and are missing, and elements that are there and were not committed.

    An altered element is both. Each is cut at DRIFT_SHOWN elements; the counts are of all.
    """

    missing: Elements
    foreign: Elements
    missing_count: Small
    foreign_count: Small


@dataclass(frozen=True, slots=True)
class Drifted:
    """Answer to Drift. `rules` names what is missing, foreign or altered: "chain forward", "set up4", "counter leaked".

    digest: as in DigestIs. elements: by set, only those that differ. sysctls: those of the profile that have another value, and the
    uplink's queues that differ from the shaper's, unless they could not be set. Without any difference `rules`, elements and sysctls
    are empty. gone: True if our table does not exist at all.
    """

    digest: str
    rules: tuple[str, ...]
    elements: Mapping[str, ElementDrift]
    sysctls: tuple[SysctlDifference, ...] = ()
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """One set's counters: its number of elements, and keys (of one width), packets and octets of the elements that counted anything.

    packets, octets: in the order of the keys, eight octets each, in network order. An element that is not listed has counted
    nothing since it came. owners: likewise, the owner of each (firewall/owners.py); empty where no element has one.
    """

    elements: Small
    keys: bytes
    packets: bytes
    octets: bytes
    owners: bytes


@dataclass(frozen=True, slots=True)
class Gone:
    """Final counts of the elements that one transaction deleted, by set. boot, table: as in Reading, at that time."""

    number: Large
    boot: str
    table: Large
    sets: Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class Reading:
    """Answer to Counters: the counted sets, and packets and octets of the named counters.

    boot: the kernel's boot id; table: the handle the kernel gave our table; log: random name of the directory in which sequence and
    the numbers of `gone` are counted, drawn when the directory is made; sequence: counts its readings; at: when this one ended.

    Elements may come and go during a reading: each that was there all the time is in it once, as it stood at some moment of the
    reading. One that was deleted meanwhile is in `gone` alone. gone: deletions that were not acknowledged, in order, each with a
    higher number.
    """

    boot: str
    table: Large
    log: str
    sequence: Large
    at: Time
    sets: Mapping[str, Counts]
    gone: tuple[Gone, ...]
    named: Mapping[str, tuple[Large, Large]]


@dataclass(frozen=True, slots=True)
class GaugesAre:
    """Answer to Gauges. sets: for each dynamic set its number of elements, and how many it can have.

    tracked: connections in the kernel's table. held: the sysctls' current values (firewall/profile.py), whatever set them. untuned:
    sysctls of the profile that could not be set, each with the name of the errno, or "other" if the kernel made another value of
    it. unshaped: why the queues of the uplink could not be set, "" if they are, or there are none.
    """

    sets: Mapping[str, tuple[Small, Small]]
    tracked: Small = 0
    held: Mapping[str, str] = field(default_factory=dict)
    untuned: Mapping[str, str] = field(default_factory=dict)
    unshaped: str = ""


@dataclass(frozen=True, slots=True)
class Beat:
    """Progress before an answer that takes long, about once a second: the agent lives. `done` of `of` elements, 0 if not known.

    doing: receiving, comparing, checking, loading, reading, writing, waiting (for another operation) or working.
    """

    doing: str
    done: Small = 0
    of: Small = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Refusal of a request: the agent did not do it, and nothing changed.

    `reason`: version, malformed, token, base, digest, nft, state or session (docs/agent.md says what to do about each).
    """

    reason: str
    text: str


Request: TypeAlias = (
    Hello
    | Plan
    | Apply
    | Confirm
    | Revert
    | Digest
    | Drift
    | Counters
    | Gauges
    | Probe
    | ReadProbes
    | Watch
    | Look
    | Describe
    | ReadHealth
    | ReadTimeouts
    | ReadElements
    | CollectEvidence
    | Roles
    | Drain
    | InstallFiles
    | KeepFiles
    | RevertFiles
    | FileTrial
    | ReadProgram
    | StoreProgram
    | TryProgram
    | KeepProgram
    | DropProgram
)
Reply: TypeAlias = (
    Welcome
    | Planned
    | Applied
    | Confirmed
    | Reverted
    | DigestIs
    | Drifted
    | Reading
    | GaugesAre
    | Probed
    | ProbesRead
    | Watching
    | Seen
    | MachineFacts
    | HealthCounters
    | TimeoutsAre
    | ElementsAre
    | EvidenceCollected
    | RolesAre
    | FileTrialIs
    | ProgramIs
    | Refused
    | Beat
)
Message: TypeAlias = Request | Reply
REASONS = frozenset({"version", "malformed", "token", "base", "digest", "nft", "state", "session"})  # of Refused

_SHORT = MessageLimits(64 << 10, 1_000)
REQUESTED = MessageLimits(MAX_MESSAGE, 16_000_000)
ANSWERED: Mapping[type[Request], MessageLimits] = MappingProxyType(
    {
        Hello: _SHORT,
        Plan: MessageLimits(4 << 20, 500_000),  # much of it is nft's text, which also contains the signs that are counted
        Apply: _SHORT,
        Confirm: _SHORT,
        Revert: _SHORT,
        Digest: _SHORT,
        Drift: MessageLimits(64 << 20, 500_000),
        Counters: MessageLimits(256 << 20, 500_000),
        Gauges: MessageLimits(1 << 20, 20_000),
        Probe: _SHORT,
        ReadProbes: MessageLimits(1 << 20, 20_000),
        Watch: _SHORT,
        Look: MessageLimits(4 << 20, 100_000),
        Describe: MessageLimits(4 << 20, 100_000),
        ReadHealth: MessageLimits(1 << 20, 50_000),
        ReadTimeouts: MessageLimits(4 << 20, 200_000),
        ReadElements: MessageLimits(8 << 20, 1_000_000),  # signs in comments are counted too
        CollectEvidence: MessageLimits(12 << 20, 1_000),  # all parts at their largest, if nothing can be compressed
        Roles: _SHORT,
        Drain: _SHORT,
        InstallFiles: _SHORT,
        KeepFiles: _SHORT,
        RevertFiles: _SHORT,
        FileTrial: _SHORT,
        ReadProgram: _SHORT,
        StoreProgram: _SHORT,
        TryProgram: _SHORT,
        KeepProgram: _SHORT,
        DropProgram: _SHORT,
    }
)
"""Limits on the length of the answer to each request. A longer answer is refused before it is read to its end."""


def iter_lines(number: int, message: Message, version: int = VERSION) -> Iterator[bytes]:
    """Yield the lines in which to send the message in one of the versions SPOKEN, each with its newline.

    Raises WireError if the message is too long, and TooNewError before the first line if that version cannot say it.
    """
    text = json.dumps(encode(message, LACKING[version]), separators=(",", ":"))
    if len(text) > MAX_MESSAGE:
        raise WireError(f"a message of {len(text)} characters is longer than {MAX_MESSAGE}")
    for start in range(0, len(text), _PART):
        last = start + _PART >= len(text)
        frame = {"v": version, "id": number, "last": last, "part": text[start : start + _PART]}
        yield json.dumps(frame, separators=(",", ":")).encode() + b"\n"


class Assembler:
    """Assembles messages from lines, one message at a time and within `limits`; a fault ends the conversation.

    version: the version of the last line; None before the first that was of a spoken version.
    """

    def __init__(self, limits: MessageLimits = REQUESTED) -> None:
        self._limits = limits
        self._number: int | None = None
        self._parts: list[str] = []
        self._length = 0
        self.version: int | None = None

    def feed(self, line: bytes) -> tuple[int, object] | None:
        """Return the message's number and its JSON data once its last line is in, None before.

        Raises WireError for anything that is not a line of a spoken version.
        """
        frame = _parse_json(_check_length(line), "line")
        version, within = _read_version(frame), self._number is not None
        if within and version != self.version:
            raise WireError(f"line of version {version} within a message of version {self.version}")
        self.version = version
        number, last, part = _parse_frame(frame)
        if self._number not in (None, number):
            raise WireError(f"line of message {number} within message {self._number}")
        self._number = number
        self._parts.append(part)
        self._length += len(part)
        if self._length > self._limits.characters:
            raise WireError(f"message {number} is longer than {self._limits.characters} characters")
        if not last:
            return None
        text, self._parts, self._length, self._number = "".join(self._parts), [], 0, None
        if len(text) > self._limits.values and sum(map(text.count, ",:[{")) > self._limits.values:
            raise WireError(f"message {number} consists of more than {self._limits.values} values")
        return number, _parse_json(text, f"message {number}")


def _check_length(line: bytes) -> bytes:
    if len(line) > MAX_LINE:
        raise WireError(f"a line of {len(line)} octets is longer than {MAX_LINE}")
    return line


def _read_version(frame: object) -> int:
    version = frame.get("v") if isinstance(frame, dict) else None
    if type(version) is not int or version not in SPOKEN:
        mine = " and ".join(map(str, SPOKEN))
        raise VersionError(f"this side speaks versions {mine}, the other {version!r}; bring both to the same release (docs/upgrade.md)")
    return version


def _parse_frame(frame: Any) -> tuple[int, bool, str]:
    if frame.keys() != {"v", "id", "last", "part"}:
        raise WireError(f"line: expected the fields v, id, last and part, got {', '.join(sorted(frame))}")
    number: int = decode(int, frame["id"], "line.id")
    last: bool = decode(bool, frame["last"], "line.last")
    part: str = decode(str, frame["part"], "line.part")
    return number, last, part


def _parse_json(text: str | bytes, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{where}: not JSON: {error}") from error


def parse_request(data: object, version: int = VERSION) -> Request:
    """Return the request in this JSON data, as a peer of this version sends it. Raises WireError."""
    return decode(Request, data, "request", LACKING[version])  # type: ignore[no-any-return]  # decode follows the annotation


def parse_reply(data: object, version: int = VERSION) -> Reply:
    """Return the reply in this JSON data, as a peer of this version sends it. Raises WireError."""
    return decode(Reply, data, "reply", LACKING[version])  # type: ignore[no-any-return]  # decode follows the annotation
