"""What the agent knows about the kernel's table, and how it changes it: known values as long as nobody else commits, else read anew."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic, perf_counter

from firewall import digest
from firewall.diff import Delta, apply, diff, diff_shape
from firewall.policy import Profile
from firewall.profile import SysctlDifference
from firewall.ruleset import EMPTY, Chain, Elements, Ruleset, drop_expired
from firewall.wire import ElementDrift
from gateway import drift
from gateway.commit_verification import verify
from gateway.drift import ChainFingerprints
from gateway.kernel_profile import SysctlErrors, list_altered_sysctls
from gateway.running_ruleset import SLACK, RunningRuleset, prune_delta, reconcile_times
from gateway.table import CommitRefusedError, NftTable, TableError


class ReadBackError(TableError):
    """The kernel accepted the transaction and holds something else."""


@dataclass(frozen=True, slots=True)
class CommitTiming:
    """Milliseconds."""

    commit: float
    read_back: float


class TableState:
    """The table and the knowledge of it. `strayed`: somebody else has changed it since `settle`."""

    def __init__(self, table: NftTable, clock: Callable[[], float]) -> None:
        self._table, self._clock = table, clock
        self._running: RunningRuleset | None = None
        self._committed: RunningRuleset | None = None  # the very object of `_running`, until somebody else changes the table
        self._listing: ChainFingerprints = {}
        self.rules_known = False
        self.strayed = True
        self.untuned: SysctlErrors = {}
        self._slack: float = SLACK  # seconds by which ends may differ that were read last

    def settle(self) -> None:
        """From here on, whatever somebody else does is straying."""
        self.strayed = False

    def put_ends_right(self) -> None:
        """The clock was moved: let the kernel end each element when it ends by the clock as it is now."""
        if self._running:
            self._table.renew(self._running.ruleset, self._clock())

    def remember(self, ruleset: Ruleset | None, now: int, untuned: SysctlErrors) -> None:
        """This was just made so; None: nobody knows what runs. untuned: what could not be set of its profile."""
        self.untuned = untuned
        self._running, self._listing = None, {}
        self.rules_known = self.strayed = False
        if ruleset is not None:
            self._running = RunningRuleset(ruleset, now)
            self._note_rules()
        self._committed = self._running

    def _note_rules(self) -> None:
        """The rules are as they were committed a moment ago."""
        if self._running:
            self._listing = self._table.listing()
            self.rules_known = True

    @property
    def keys(self) -> Mapping[str, Elements]:
        """The elements of each set as far as they are known without asking the kernel; changes in place."""
        known = self._running or self._committed
        return known.ruleset.elements if known else {}

    @property
    def rules(self) -> Mapping[str, Chain]:
        """The chains as they were committed last; none while the kernel's are known to be others."""
        return self._chains if self.rules_known else EMPTY.chains

    @property
    def _chains(self) -> Mapping[str, Chain]:
        return self._committed.ruleset.chains if self._committed else EMPTY.chains

    def current(self, now: int) -> RunningRuleset:
        """What runs at `now`."""
        if self._running is None or self._table.disturbed():
            return self.read(now)
        self._running.advance(now)
        return self._running

    def watched(self, now: int) -> RunningRuleset:
        """The same, and if somebody else has set the kernel otherwise than its profile says, that is seen too."""
        return self.read(now) if self._running and self.altered(self._running.ruleset.profile) else self.current(now)

    def altered(self, profile: Profile | None) -> tuple[SysctlDifference, ...]:
        """What the kernel is set to otherwise than this profile says, and might be set to."""
        return list_altered_sysctls(self._table, profile, self.untuned)

    def read(self, now: int) -> RunningRuleset:
        """The same, read from the kernel, whatever is known."""
        clock = self._clock()
        found = self._found(clock)
        known = self._running
        if known is None:
            return self._stray(RunningRuleset(found, now))
        known.advance(now)
        found = drop_expired(reconcile_times(found, known.ruleset, clock, self._slack), known.now)
        return known if found == known.ruleset else self._stray(RunningRuleset(found, known.now))

    def _stray(self, running: RunningRuleset) -> RunningRuleset:
        self.strayed = True
        self._running = running
        return running

    def _found(self, clock: float) -> Ruleset:
        """What the kernel holds; the rules are those committed last if nobody wrote to them, and unknown if somebody did. The profile
        is the one committed last, or none that anybody knows."""
        start = monotonic()
        read = self._table.read(clock)
        self._slack = SLACK + self._table.lateness + monotonic() - start
        committed = self._committed.ruleset.profile if self._committed else None
        found = replace(read, profile=None if self.altered(committed) else committed)
        self.rules_known = not found.chains or self._table.listing() == self._listing
        return replace(found, chains=self._chains) if self.rules_known and found.chains else found

    def digest_of_elements(self, now: int) -> int:
        """The digest at `now` as if the rules were those that were committed."""
        running = self.current(now)
        if self.rules_known or not self._chains:
            return running.digest
        held = running.ruleset
        return digest.update(running.digest, diff_shape(held, replace(held, chains=self._chains)))

    def drift(self, now: int) -> tuple[tuple[str, ...], dict[str, ElementDrift], tuple[SysctlDifference, ...], bool]:
        """In what the kernel, read anew, differs at `now` from what was committed last: rules, elements, and what it is set to; and
        whether nothing of it is there any more."""
        found = self.read(now).ruleset
        committed = EMPTY
        if self._committed:
            self._committed.advance(now)
            committed = self._committed.ruleset
        rules = drift.compare_rules(committed, found, self._listing, self._table.listing())
        gone = bool(committed.chains) and not (found.chains or found.sets)
        return rules, drift.compare_elements(committed, found, self._clock(), self._slack), self.altered(committed.profile), gone

    def commit(self, delta: Delta, after: int) -> CommitTiming:
        """Make the delta so, in one transaction, and read back what it touched. `after`: the digest it leads to.

        Raises CommitRefusedError when nothing has changed, ReadBackError when the kernel holds something else.
        """
        running, self._running = self._running or self.current(0), None  # whatever goes wrong below, it will be read anew
        start = perf_counter()
        try:
            self._table.commit(delta, self._clock())
        except CommitRefusedError as refused:
            self._commit_again(delta, running, refused)
        committed = perf_counter()
        self._read_back(delta)
        running.change(delta, after)
        self._running = self._committed = running
        if delta.touches_rules:
            self._note_rules()
        return CommitTiming((committed - start) * 1000, (perf_counter() - committed) * 1000)

    def _read_back(self, delta: Delta) -> None:
        self._table.progress.begin("reading")
        try:
            fault = verify(self._table, prune_delta(delta, self._clock()), self._clock)
        except (TableError, OSError) as error:
            raise ReadBackError(str(error)) from error
        if fault:
            raise ReadBackError(fault)

    def _commit_again(self, delta: Delta, running: RunningRuleset, refused: CommitRefusedError) -> None:
        """An element may have ended after the transaction was written: once more, from what the kernel holds now."""
        wanted = apply(running.ruleset, delta)
        found = reconcile_times(self._found(self._clock()), wanted, 0, self._slack)
        again = diff(found, drop_expired(wanted, self._clock()))
        if again == delta:
            self._running = running
            raise refused
        self._table.commit(again, self._clock())
