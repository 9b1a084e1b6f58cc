"""The agent's knowledge of the kernel's table, and its changes to it. The table is read again only if another program has committed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic, perf_counter

from firewall import digest
from firewall.diff import Delta, apply, diff, diff_shape
from firewall.profile import SysctlDifference
from firewall.ruleset import EMPTY, Chain, Elements, Ruleset, UplinkShaper, drop_expired
from firewall.shaper import list_shaper_differences
from firewall.wire import ElementDrift
from gateway import drift
from gateway.commit_verification import verify_commit
from gateway.drift import ChainFingerprints
from gateway.kernel_profile import SysctlErrors, list_altered_sysctls
from gateway.running_ruleset import SLACK, RunningRuleset, drop_expired_changes, reconcile_times
from gateway.table import CommitRefusedError, NftTable, NotApprovedError, TableError


class ReadBackError(TableError):
    """The kernel accepted the transaction but holds something else."""


@dataclass(frozen=True, slots=True)
class CommitTiming:
    """Duration of a commit and of reading it back, in milliseconds."""

    commit: float
    read_back: float


class TableState:
    """The table and what is known about it. `strayed`: another program has changed it since `settle`."""

    def __init__(self, table: NftTable, clock: Callable[[], float]) -> None:
        self._table, self._clock = table, clock
        self._running: RunningRuleset | None = None
        self._committed: RunningRuleset | None = None  # the same object as `_running`, until another program changes the table
        self._listing: ChainFingerprints = {}
        self.rules_known = False
        self.strayed = True
        self.untuned: SysctlErrors = {}
        self.unshaped = ""  # why the queues of the uplink are not the shaper's, as far as that is known
        self._uplink_index = 0  # the kernel's, when its queues were set
        self._slack: float = SLACK  # seconds by which the expiry times of the last read may differ

    def settle(self) -> None:
        """Clear `strayed`. Changes of other programs set it again."""
        self.strayed = False

    def forget(self) -> None:
        """Forget what runs, so that it is read anew before anything depends on it. What was committed last is still known."""
        self._running = None

    def correct_element_expiries(self) -> None:
        """Make the kernel end each element by the clock as it is now, after the clock was moved."""
        if self._running:
            self._table.renew(self._running.ruleset, self._clock())

    def remember(self, ruleset: Ruleset | None, now: int, untuned: SysctlErrors, unshaped: str) -> None:
        """Remember this ruleset as the one just loaded; None: it is not known what runs.

        untuned: sysctls of its profile that could not be set. unshaped: why its queues could not, "" if they are.
        """
        self.untuned = untuned
        self._running, self._listing = None, {}
        self.rules_known = self.strayed = False
        if ruleset is not None:
            self._running = RunningRuleset(ruleset, now)
            self._listing, self.rules_known = self._table.fingerprint_chains(), True
        self._committed = self._running
        self.note_queues(unshaped)

    def note_queues(self, unshaped: str) -> None:
        """Note that the queues of the shaper that was committed last have been set, or why they could not be."""
        self.unshaped, self._uplink_index = unshaped, self._get_uplink_index()

    @property
    def is_uplink_new(self) -> bool:
        """True if the uplink went, or was made anew, since its queues were set: they went with it. May be called on another thread."""
        return self._get_uplink_index() != self._uplink_index

    def _get_uplink_index(self) -> int:
        shaper = self.committed_shaper
        return self._table.get_interface_index(shaper.interface) if shaper else 0

    @property
    def known_elements(self) -> Mapping[str, Elements]:
        """The elements of each set as far as they are known without asking the kernel. The mapping changes in place."""
        known = self._running or self._committed
        return known.ruleset.elements if known else {}

    @property
    def rules(self) -> Mapping[str, Chain]:
        """The chains as committed last; none while the kernel's rules are known to differ."""
        return self._chains if self.rules_known else EMPTY.chains

    @property
    def _chains(self) -> Mapping[str, Chain]:
        return self._committed.ruleset.chains if self._committed else EMPTY.chains

    @property
    def committed_ruleset(self) -> RunningRuleset | None:
        """The ruleset as committed last, whatever another program has changed since; None if it is not known."""
        return self._committed

    @property
    def committed_shaper(self) -> UplinkShaper | None:
        """The shaper as committed last."""
        return self._committed.ruleset.shaper if self._committed else None

    @property
    def known_digest(self) -> int | None:
        """Digest of what was committed, None if it is not known. The kernel is not asked."""
        known = self._running or self._committed
        return known.digest if known and self.rules_known else None

    @property
    def is_committed(self) -> bool:
        """True if what was committed last runs, as far as that is known without asking the kernel."""
        return self._running is not None and self._running is self._committed and self.rules_known and not self.strayed

    def get_running(self, now: int) -> RunningRuleset:
        """Return what runs at `now`."""
        if self._running is None or self._table.is_disturbed():
            return self.read(now, again=True)
        self._running.advance(now)
        return self._running

    def reread_if_settings_altered(self, now: int) -> RunningRuleset:
        """Return what runs at `now`; read it from the kernel if another program has changed a kernel setting."""
        return self.read(now) if self._running and self.list_altered_settings(self._running.ruleset) else self.get_running(now)

    def list_altered_settings(self, ruleset: Ruleset) -> tuple[SysctlDifference, ...]:
        """Return the kernel settings that differ from this ruleset's; no sysctls and queues that could not be set."""
        return (*list_altered_sysctls(self._table, ruleset.profile, self.untuned), *self._list_altered_queues(ruleset.shaper))

    def _list_altered_queues(self, shaper: UplinkShaper | None) -> tuple[SysctlDifference, ...]:
        if shaper is None or self.unshaped or self.is_uplink_new:
            return ()
        return list_shaper_differences(shaper, self._table.read_shaper(shaper.interface))

    def read(self, now: int, *, again: bool = False) -> RunningRuleset:
        """Read what runs at `now` from the kernel, even if it is known. again: only what other programs may have changed."""
        clock, known = self._clock(), self._running
        found = self._read_kernel(clock, known if again else None)
        if known is None:
            return self._mark_strayed(RunningRuleset(found, now))
        known.advance(now)
        found = drop_expired(reconcile_times(found, known.ruleset, clock, self._slack), known.now)
        if found == known.ruleset:
            return known
        after = digest.update_digest(known.digest, diff(known.ruleset, found))
        return self._mark_strayed(RunningRuleset(found, known.now, after))

    def _mark_strayed(self, running: RunningRuleset) -> RunningRuleset:
        self.strayed = True
        self._running = running
        return running

    def _read_kernel(self, clock: float, known: RunningRuleset | None = None) -> Ruleset:
        """Return what the kernel holds. known: what ran until another program changed it.

        Rules: those committed last if no other program has written to them, otherwise unknown. Profile and shaper: those committed
        last, or None where the kernel differs from them.
        """
        start = monotonic()
        read = self._table.read_again(clock, known.ruleset.elements) if known else self._table.read(clock)
        self._slack = SLACK + self._table.lateness + monotonic() - start
        committed = self._committed.ruleset if self._committed else EMPTY
        profile = None if list_altered_sysctls(self._table, committed.profile, self.untuned) else committed.profile
        found = replace(read, profile=profile, shaper=None if self._list_altered_queues(committed.shaper) else committed.shaper)
        self.rules_known = not found.chains or self._table.fingerprint_chains() == self._listing
        return replace(found, chains=self._chains) if self.rules_known and found.chains else found

    def compute_elements_digest(self, now: int) -> int:
        """Return the digest at `now` as if the rules were those that were committed."""
        running = self.get_running(now)
        if self.rules_known or not self._chains:
            return running.digest
        held = running.ruleset
        return digest.update_digest(running.digest, diff_shape(held, replace(held, chains=self._chains)))

    def compute_drift(self, now: int) -> tuple[tuple[str, ...], dict[str, ElementDrift], tuple[SysctlDifference, ...], bool]:
        """Compare the kernel with what was committed last, as of `now`. It is read anew; if a change by others is known, only what they
        may have changed since.

        Return the differing rules, elements and kernel settings, and whether nothing of the committed ruleset is left.
        """
        found = self.read(now, again=self.strayed).ruleset
        committed = EMPTY
        if self._committed:
            self._committed.advance(now)
            committed = self._committed.ruleset
        rules = drift.compare_rules(committed, found, self._listing, self._table.fingerprint_chains())
        gone = bool(committed.chains) and not (found.chains or found.sets)
        return (
            rules,
            drift.compare_elements(committed, found, self._clock(), self._slack),
            self.list_altered_settings(committed),
            gone,
        )

    def commit(self, delta: Delta, approve: Callable[[], int]) -> CommitTiming:
        """Apply the delta in one transaction, and read back what it touched.

        approve: returns the digest that it leads to, or raises NotApprovedError; then nothing has changed.
        Raises CommitRefusedError if the kernel refused it (nothing has changed then), ReadBackError if the kernel holds something
        else. After any other error the kernel may hold it or not; what was committed last is as before for the agent.
        """
        running, self._running = self._running or self.get_running(0), None  # on any error below, it will be read anew
        start = perf_counter()
        try:
            self._table.commit(delta, self._clock(), approve)
        except NotApprovedError:
            self._running = running
            raise
        except CommitRefusedError as refused:
            self._commit_again(delta, running, refused)
        committed = perf_counter()
        self._read_back(delta)
        listing = self._table.fingerprint_chains() if delta.touches_rules else self._listing
        running.change(delta, approve())
        self._running = self._committed = running
        self._listing, self.rules_known = listing, self.rules_known or delta.touches_rules
        return CommitTiming((committed - start) * 1000, (perf_counter() - committed) * 1000)

    def _read_back(self, delta: Delta) -> None:
        self._table.progress.begin("reading")
        try:
            fault = verify_commit(self._table, drop_expired_changes(delta, self._clock()), self._clock)
        except (TableError, OSError) as error:
            raise ReadBackError(str(error)) from error
        if fault:
            raise ReadBackError(fault)

    def _commit_again(self, delta: Delta, running: RunningRuleset, refused: CommitRefusedError) -> None:
        """Commit again, from what the kernel holds now: an element may have expired after the transaction was written.

        Raises the refusal if nothing has expired, or if that cannot be read.
        """
        wanted = apply(running.ruleset, delta)
        try:
            read = self._read_kernel(self._clock())
        except (TableError, OSError) as error:
            raise refused from error
        found = reconcile_times(read, wanted, 0, self._slack)
        again = diff(found, drop_expired(wanted, self._clock()))
        if again == delta:
            self._running = running
            raise refused
        self._table.commit(again, self._clock())
