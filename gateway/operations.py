"""The agent's operations, one for each request of firewall/wire.py.

A request comes in, a reply goes out; between them are one table and one state directory. This module knows no socket and no nft.
One operation runs at a time, but counters may be read beside others. A change that is not confirmed in time is taken back. The
deadline is measured by CLOCK_MONOTONIC, which cannot be set.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, reduce
from math import ceil, inf
from pathlib import Path
from threading import Event
from time import gmtime, monotonic, strftime, time_ns

from firewall import digest as digests
from firewall import live_trace, wire
from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, ReadProgram, StoreProgram, TryProgram
from firewall.codec import WireError, encode
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre
from firewall.diff import Delta, apply, diff
from firewall.evidence import MOST_INTERFACES, SECONDS, CollectEvidence, EvidenceCollected, EvidenceKind
from firewall.file_trial import FileTrial, FileTrialIs, InstallFiles, KeepFiles, RevertFiles
from firewall.health import HealthCounters, ReadHealth
from firewall.machine import Describe
from firewall.policy import PolicyError
from firewall.probe_messages import Probe, ReadProbes
from firewall.render import render_beginning
from firewall.returned_flows import ForbiddenFlows, WithdrawnObjects
from firewall.roles import Drain, Roles, RolesAre
from firewall.ruleset import Ruleset, drop_expired
from firewall.running_elements import ElementsAre, ReadElements
from firewall.summary import count_kernel_changes
from gateway.clock import GatewayClock
from gateway.counter_reading import CounterReader
from gateway.element_pages import build_page
from gateway.evidence.collection import collect_parts
from gateway.evidence.header_service import ask_for_headers
from gateway.evidence.part import Deadline, PartContent, PartMissingError, PartReader
from gateway.failover_files import FailoverFileRequests
from gateway.failover_roles import SETTINGS, FailoverRoles
from gateway.flow_termination import cut_flows_at_commit, cut_flows_at_confirm, cut_reappeared
from gateway.kernel_profile import apply_profile, keep_original_sysctls
from gateway.live_trace import LiveTrace
from gateway.log_texts import to_plain_line
from gateway.machine import describe_machine
from gateway.persistent_state import ConfirmedRuleset, StateDirectory, StateError, encode_ruleset
from gateway.probes.counted import CountedProbes
from gateway.programs.requests import AgentPrograms
from gateway.release import compute_version
from gateway.restore import RestoreOutcome, choose_fallback_ruleset, restore_ruleset, revert_ruleset
from gateway.ruleset_inspection import check_capacities, check_ruleset, inspect_delta, inspect_management
from gateway.running_ruleset import RunningRuleset, drop_expired_changes
from gateway.table import CommitRefusedError, NftTable, NotApprovedError, TableError
from gateway.table_state import CommitTiming, ReadBackError, TableState
from gateway.takeover import TakeoverWatch
from gateway.trial import PendingTrial
from gateway.uplink_queues import change_queues, describe_lack, set_queues

_MOST_TEXT = 256 << 10
_READING_TIMEOUTS = 5.0  # seconds; half a million connections take so long on two cores that also do other work
_MOST_TOKEN = 1 << 63

log = logging.getLogger("gateway")


class OperationRefusedError(Exception):
    """The agent answers `Refused` with this reason."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class DigestRefusedError(OperationRefusedError, NotApprovedError):
    """The change leads to another digest than the portal says."""


def _approve(compute_after: Callable[[], int], target: str) -> int:
    """Return the digest that a change leads to. Raises DigestRefusedError if it is another than the target."""
    after = compute_after()
    if digests.format_digest(after) != target:
        raise DigestRefusedError("digest", f"this would lead to {digests.format_digest(after)}, not to {target}; nothing was done")
    return after


def _build_refused(reason: str, error: Exception) -> wire.Refused:
    """Build a Refused reply. The text is cut, because nft quotes what it did not accept, and that may be long."""
    return wire.Refused(reason, str(error)[: wire.LONGEST_TEXT].replace("\0", ""))


class Agent:
    """One gateway's operations.

    clock: returns Unix seconds. steady: returns seconds of CLOCK_MONOTONIC. boot: the kernel's boot id. probes: the prober's
    socket, if the gateway has one. failover: where failover.conf is if failover is set up. installer: installs its files.
    headers: the socket of the process that takes packet headers; None: the agent takes them itself. programs: what its launcher said
    about its program.
    """

    def __init__(
        self,
        table: NftTable,
        state: StateDirectory,
        *,
        name: str,
        boot: str,
        clock: Callable[[], float],
        steady: Callable[[], float] = monotonic,
        probes: Path | None = None,
        failover: Path = SETTINGS,
        installer: FailoverFileRequests | None = None,
        headers: Path | None = None,
        programs: AgentPrograms | None = None,
    ) -> None:
        self._table, self._state, self._steady = table, state, steady
        self._ledger = state.ledger
        self._clock = GatewayClock(clock, steady)
        self._name, self._boot = name, boot
        self.probes = CountedProbes(probes, table)
        self._failover = FailoverRoles(table, failover)
        self._installer = installer or FailoverFileRequests(None)
        self._headers = headers
        self.programs = programs or AgentPrograms(None)
        self._takeover, self._withdrawn = TakeoverWatch(self._failover, steady), WithdrawnObjects()
        self._held = TableState(table, self._clock)
        self.live = LiveTrace(table, lambda: self._held.rules, steady)
        self._trial: PendingTrial | None = None
        self._beside = ThreadPoolExecutor(1, "beside")  # for what does not need the kernel while it loads
        self._encoded: tuple[str, Future[bytes]] | None = None  # digest of a ruleset on trial, and how its checkpoint will have it
        self._confirmed = ""
        self._past = ""
        self._damage = ""
        self._applied_last = 0  # token
        self._ends_moved = False  # the clock was moved, and the kernel's expiry times were not yet
        self._origin = choose_fallback_ruleset(table.read(self._clock()))

    @property
    def is_on_trial(self) -> bool:
        """True if a change has been applied and not confirmed yet."""
        return self._trial is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the change on trial is taken back; 0 if there is none."""
        return self._trial.compute_seconds_left(self._steady()) if self._trial else 0.0

    def start(self) -> RestoreOutcome:
        """Bring the kernel back to what was confirmed last, and remember it as the state that runs."""
        brought = self._adopt_outcome(restore_ruleset(self._table, self._state, self._clock()))
        self._record_deleted_counts()
        self._past = f"the agent started at {self._format_time()}: {brought.text}"
        return brought

    def take_back(self, reason: str) -> RestoreOutcome:
        """Undo what was applied and not confirmed."""
        undone = self._trial.target[:12] if self._trial else "what was committed"
        brought = self._adopt_outcome(revert_ruleset(self._table, self._state, self._clock(), self._origin, self._rebuild_confirmed))
        self._record_deleted_counts()
        self._past = f"{undone} was taken back at {self._format_time()}, because {reason}: {brought.text}"
        log.warning("%s", to_plain_line(f"{self._past}: {brought.fault}" if brought.fault else self._past))
        return brought

    def take_back_overdue(self) -> None:
        """Take back the change on trial if its time to confirm is over."""
        if self._trial and not self.seconds_left:
            self.take_back(f"it was not confirmed within {self._trial.within} s")

    @property
    def may_have_returned_flows(self) -> bool:
        """True if connections that were cut may be back from the other gateway. May be called on another thread."""
        return self._takeover.is_due()

    def build_forbidden_flows(self) -> ForbiddenFlows:
        """Return what to look for among the connections. Called between requests. Raises TableError."""
        own = {each.address.packed for interface in self._table.list_interfaces() for each in interface.addresses}
        return ForbiddenFlows(self._held.known_elements, self._held.rules, self._withdrawn, own, self._clock())

    def cut_returned_flows(self, returned: ForbiddenFlows) -> None:
        """Cut the connections that were cut before and are back. May be called on another thread, beside everything else.

        Raises TableError or OSError.
        """
        if cut := self._takeover.run(lambda: cut_reappeared(self._table, returned)):
            log.warning("%d connections that had been cut came back from the other gateway, and were cut again", cut)

    def _rebuild_confirmed(self) -> ConfirmedRuleset | None:
        """Return the confirmed ruleset as far as it is known in memory, for the case that the disk cannot be read any more."""
        if self._trial is None or not self._trial.follows or self._held.strayed:
            return None
        running = self._held.get_running(0)
        before = reduce(apply, (delta.invert() for delta in reversed(self._trial.deltas)), running.ruleset)
        return ConfirmedRuleset(before, digests.digest_ruleset(before), running.now)

    def _format_time(self) -> str:
        return strftime("%Y-%m-%d %H:%M:%S UTC", gmtime(self._clock()))

    def _adopt_outcome(self, brought: RestoreOutcome) -> RestoreOutcome:
        self._trial, self._damage, self._encoded = None, brought.fault, None
        self._confirmed = digests.format_digest(brought.confirmed.digest) if brought.confirmed else ""
        self._note_withdrawn(brought.confirmed.deltas if brought.confirmed else ())
        if brought.confirmed and self._clock() < brought.confirmed.at:
            self._clock.follow(brought.confirmed.at)
        self._held.remember(brought.ruleset, int(self._clock()), brought.untuned, brought.unshaped)
        return brought

    @property
    def is_unshaped(self) -> bool:
        """True if the queues of the uplink could not be set. May be called on another thread."""
        return bool(self._held.unshaped)

    def restore_queues(self) -> None:
        """Set the queues of the uplink, if that is possible by now. Called between requests."""
        if self._held.unshaped:
            self._note_queues(set_queues(self._table, self._held.committed_shaper))

    def _note_queues(self, unshaped: str) -> None:
        """Note why the queues of the uplink are not those of the ruleset that runs, "" if they are. Said once, not with each try."""
        before, self._held.unshaped = self._held.unshaped, unshaped
        if unshaped and unshaped != before:
            log.warning("without fair queues: %s", to_plain_line(unshaped))
        elif before and not unshaped:
            log.info("the queues of the uplink are set")

    @property
    def is_checkpoint_due(self) -> bool:
        """True if a checkpoint should be written. May be called on another thread."""
        return self._trial is None and bool(self._confirmed) and self._state.wants_checkpoint

    def tidy(self) -> None:
        """Write a checkpoint if one is due. Called between requests."""
        if self.is_checkpoint_due:
            running = self._held.get_running(0)
            if not self._held.strayed:
                self._state.write_checkpoint(running.ruleset, running.digest, running.now)

    def answer(self, request: wire.Request, opened: float = inf) -> wire.Reply:
        """Execute the request and return the reply, or Refused with the reason.

        opened: when the request's connection was opened, on the steady clock; inf: just now.
        """
        self._table.progress.begin("comparing" if isinstance(request, wire.Plan | wire.Apply) else "working")
        try:
            self.take_back_overdue()
            self._set_clock(request)
            return self._do(request, opened)
        except OperationRefusedError as refusal:
            return _build_refused(refusal.reason, refusal)
        except CommitRefusedError as error:
            return _build_refused("nft", error)
        except (WireError, PolicyError) as error:
            return _build_refused("malformed", error)
        except (TableError, StateError, OSError) as error:
            return _build_refused("state", error)
        finally:
            self._table.progress.end()

    @property
    def beat(self) -> wire.Beat:
        """The progress of the running operation. May be read on another thread."""
        return self._table.progress.beat

    def _set_clock(self, request: wire.Request) -> None:
        """Adjust the clock to the portal's as far as the request gives certain bounds, and then the kernel's expiry times to the clock."""
        bound = getattr(request, "not_later", None)
        moved = self._clock.limit(bound.steady / 1000, bound.latest / 1000) if bound else False
        if self._clock.follow(getattr(request, "sent", 0) / 1000) or moved:
            log.warning("the clock was set to the portal's: %s", self._format_time())
            self._ends_moved = True
        if self._ends_moved:
            self._held.correct_element_expiries()
            self._record_deleted_counts()
            self._ends_moved = False

    def _do(self, request: wire.Request, opened: float) -> wire.Reply:
        match request:
            case wire.Hello():
                return self._answer_hello(request)
            case wire.Plan():
                return self._plan(request)
            case wire.Apply():
                return self._apply(request)
            case wire.Confirm():
                return self._confirm(request, opened)
            case wire.Revert():
                return self._revert(request)
            case wire.Digest():
                return self._answer_digest(request)
            case wire.Drift():
                return self._answer_drift(request)
            case ReadElements():
                return self._read_elements(request)
            case wire.Counters():
                return self._answer_counters(request)
            case wire.Gauges():
                return self.build_gauges({name: (self.count_set_elements(name), size) for name, size in self.list_dynamic_sets().items()})
            case Probe():
                return self.probes.probe(request)
            case ReadProbes():
                return self.probes.read_rounds(request)
            case live_trace.Watch():
                self._held.get_running(0)
                return self.live.start(request)
            case live_trace.Look():
                return self.live.look(request)
            case ReadHealth():
                return self.read_health()
            case ReadTimeouts():
                return self.read_timeouts(Event())
            case CollectEvidence():
                return self.collect_evidence(request, self.describe_ruleset(), Event())
            case Describe():
                return describe_machine(self._table, self._name)
            case Roles() | Drain():
                return self.answer_roles(request)
            case InstallFiles() | KeepFiles() | RevertFiles() | FileTrial():
                return self.answer_files(request)
            case ReadProgram():
                return self.programs.read()
            case StoreProgram() | TryProgram() | KeepProgram() | DropProgram():
                return self._change_program(request)

    def _answer_hello(self, request: wire.Hello) -> wire.Welcome:
        if request.token:
            self._claim(request.token)
        self._state.try_disk()
        running = self._held.reread_if_settings_altered(request.now)
        digest = digests.format_digest(running.digest) if self._held.rules_known else ""
        confirmed = self._confirmed if self._trial or self._held.strayed or not self._confirmed else digest
        trial, left = self._trial.target if self._trial else "", ceil(self.seconds_left)
        told = (self._name, compute_version(), digest, confirmed, self._state.token, self._boot, self._table.in_memory)
        faults = (self._state.unwritable, self._damage)
        moment = (round(self._clock() * 1000), round(self._steady() * 1000))
        return wire.Welcome(*told, trial, left, self._applied_last, *faults, *moment)

    def _plan(self, request: wire.Plan) -> wire.Planned:
        check_ruleset(request.ruleset)
        inspect_management(request.ruleset.chains)
        wanted = drop_expired(request.ruleset, request.now)
        check_capacities(wanted)
        delta = diff(self._held.get_running(request.now).ruleset, wanted)
        self._table.check(delta, self._clock())
        return wire.Planned(
            digests.format_digest(digests.digest_ruleset(wanted)),
            {name: len(change.added) for name, change in delta.elements.items() if change.added},
            {name: len(change.removed) for name, change in delta.elements.items() if change.removed},
            tuple(delta.chains),
            describe_lack(self._table, delta) + render_beginning(delta, now=int(self._clock()), most=_MOST_TEXT),
            count_kernel_changes(delta),
        )

    def _change_program(self, request: StoreProgram | TryProgram | KeepProgram | DropProgram) -> ProgramIs:
        """Change the agent's program. A restart would take back a ruleset that is on trial."""
        self._claim(request.token)
        if self._trial and isinstance(request, TryProgram):
            raise OperationRefusedError("state", "a ruleset waits to be confirmed here; try the program after that")
        return self.programs.change(request)

    def _apply(self, request: wire.Apply) -> wire.Applied:
        if request.confirm_within not in wire.CONFIRM_WITHIN:
            raise WireError(f"request.confirm_within: {request.confirm_within} s is not between 1 and {wire.CONFIRM_WITHIN[-1]}")
        if request.delta is not None:
            inspect_delta(request.delta)
        if request.ruleset is not None:
            check_ruleset(request.ruleset)
        self._claim(request.token)
        if self.programs.is_on_trial:
            raise OperationRefusedError("state", "a program of the agent is on trial here; apply after that")
        running = self._held.get_running(request.now)
        follows = not self._held.strayed and self._held.rules_known
        delta, compute_after = self._compute_change(request, running)
        approve = partial(_approve, compute_after, request.target)
        if request.delta is not None:
            approve()
        if delta.chains:
            inspect_management(apply(Ruleset(running.ruleset.chains), Delta(delta.chains)).chains)
        if delta.profile and delta.profile.after:
            keep_original_sysctls(self._table, self._state)
        spent = self._commit(delta, approve)
        self._held.settle()
        self._applied_last = request.token
        trial = self._trial = self._build_trial(delta, request, follows=follows)
        held = self._held.get_running(request.now).ruleset.elements
        flows_cut, later = cut_flows_at_commit(self._table, drop_expired_changes(delta, self._clock()), held)
        self._trial = trial.add_flows(later)
        return self._build_applied(delta, request.target, spent, flows_cut)

    def _build_trial(self, delta: Delta, request: wire.Apply, *, follows: bool) -> PendingTrial:
        """Build the trial that follows this change.

        It still goes back to before the first unconfirmed change; the time to confirm begins anew.
        """
        now, earlier = self._steady(), self._trial
        return PendingTrial(
            (*(earlier.deltas if earlier else ()), delta),
            follows and (earlier.follows if earlier else bool(self._confirmed)),
            request.target,
            request.confirm_within,
            now + request.confirm_within,
            now if delta.touches_rules or delta.touches_kernel else earlier.rules_since if earlier else None,
            earlier.flows if earlier else (),
        )

    def _claim(self, token: int) -> None:
        """Check the fencing token, and store it if it is higher than the last.

        A lower token belongs to a worker that was replaced. A token far above the highest is refused because it would leave no
        higher ones.
        """
        if not 0 <= token < _MOST_TOKEN:
            raise WireError(f"request.token: {token} is out of range")
        if self._state.token and token > self._state.token + wire.LEAP_OBEYED:
            raise OperationRefusedError(
                "token", f"token {token} is more than {wire.LEAP_OBEYED} higher than {self._state.token}, so it cannot be genuine"
            )
        if token < self._state.token:
            raise OperationRefusedError("token", f"token {token} is older than {self._state.token}: another worker has taken over")
        if token > self._state.token:
            self._state.raise_token(token)

    def _compute_change(self, request: wire.Apply, running: RunningRuleset) -> tuple[Delta, Callable[[], int]]:
        """Return the delta to commit, and what computes the digest it leads to; that of a whole ruleset is computed beside the commit."""
        if request.ruleset is not None and request.delta is None:
            wanted = drop_expired(request.ruleset, request.now)
            digest = self._beside.submit(digests.digest_ruleset, wanted)
            self._encoded = None if self._state.has_checkpoint else (request.target, self._beside.submit(encode_ruleset, wanted))
            return diff(running.ruleset, wanted), digest.result
        if request.delta is None or request.ruleset is not None:
            raise WireError("request: expected either a delta or a ruleset")
        if not self._held.rules_known or request.base != digests.format_digest(running.digest):
            known = digests.format_digest(running.digest) if self._held.rules_known else "an unknown ruleset"
            raise OperationRefusedError("base", f"{known} runs here, not {request.base}; send the whole ruleset")
        delta = drop_expired_changes(request.delta, request.now)
        if misfit := running.find_misfit(delta):
            raise OperationRefusedError("base", f"{misfit}: differs from what runs here; send the whole ruleset")
        after = digests.update_digest(running.digest, delta)
        return delta, lambda: after

    def _commit(self, delta: Delta, approve: Callable[[], int]) -> CommitTiming:
        try:
            with change_queues(self._table, delta.shaper) as unshaped:
                spent = self._held.commit(delta, approve)
            if delta.shaper:
                self._note_queues(unshaped)
            if delta.profile:
                self._held.untuned = apply_profile(self._table, self._state, delta.profile.after)
            return spent
        except ReadBackError as fault:
            brought = self.take_back("it differed when it was read back")
            raise OperationRefusedError("nft", f"read back after the commit: {fault}; {brought.text}") from fault
        finally:
            self._record_deleted_counts()

    def _build_applied(self, delta: Delta, target: str, spent: CommitTiming, flows_cut: int) -> wire.Applied:
        elements = sum(len(change.removed) + len(change.added) for change in delta.elements.values())
        return wire.Applied(
            target, elements, len(delta.chains), round(spent.commit), round(spent.read_back), flows_cut, self._needs_new_session
        )

    @property
    def _needs_new_session(self) -> bool:
        return self._trial is not None and self._trial.rules_since is not None

    def _confirm(self, request: wire.Confirm, opened: float) -> wire.Confirmed:
        self._claim(request.token)
        if self._trial is None and request.target == self._confirmed:
            return wire.Confirmed(request.target, 0)
        if self._trial is None or request.target != self._trial.target:
            waiting = self._trial.target if self._trial else "nothing"
            raise OperationRefusedError("digest", f"{waiting} waits to be confirmed, not {request.target}; {self._past}")
        if not self._trial.may_confirm(opened):
            raise OperationRefusedError(
                "session", "rules were changed: confirm over a session opened since the commit; an old one proves nothing"
            )
        running = self._held.get_running(0)
        if self._held.strayed:
            raise OperationRefusedError("state", "another program has changed the table since; apply again")
        self._table.progress.begin("writing")
        self._save_confirmed(self._trial, running)
        trial, self._trial, self._damage, self._encoded = self._trial, None, "", None
        self._note_withdrawn(trial.deltas)
        self._confirmed, self._past = request.target, f"{request.target[:12]} was confirmed at {self._format_time()}"
        return wire.Confirmed(request.target, cut_flows_at_confirm(self._table, trial, running.ruleset.elements))

    def _note_withdrawn(self, deltas: Iterable[Delta]) -> None:
        for delta in deltas:
            self._withdrawn.note(delta)

    def _revert(self, request: wire.Revert) -> wire.Reverted:
        self._claim(request.token)
        if self._trial is None:
            raise OperationRefusedError("digest", f"nothing waits to be confirmed, so there is nothing to take back; {self._past}")
        brought = self.take_back("the portal requested it")
        if brought.fault:
            raise OperationRefusedError("state", f"{brought.fault}; {brought.text}")
        return wire.Reverted(digests.format_digest(self._held.get_running(0).digest), brought.text)

    def _save_confirmed(self, trial: PendingTrial, running: RunningRuleset) -> None:
        if trial.follows and self._state.has_checkpoint:
            self._state.append([delta for delta in trial.deltas if delta], running.digest, running.now)
        else:
            self._state.write_checkpoint(running.ruleset, running.digest, running.now, self._get_encoded(running.digest))

    def _get_encoded(self, digest: int) -> bytes | None:
        """Return what was encoded while the ruleset with this digest was loaded; None if another was, or nothing."""
        target, encoded = self._encoded or ("", None)
        return encoded.result() if encoded and target == digests.format_digest(digest) else None

    def _answer_digest(self, request: wire.Digest) -> wire.DigestIs:
        self._held.read(request.now)
        return wire.DigestIs(digests.format_digest(self._held.compute_elements_digest(request.now)), self._held.rules_known)

    def _answer_drift(self, request: wire.Drift) -> wire.Drifted:
        rules, elements, sysctls, gone = self._held.compute_drift(request.now)
        return wire.Drifted(digests.format_digest(self._held.compute_elements_digest(request.now)), rules, elements, sysctls, gone)

    def _read_elements(self, request: ReadElements) -> ElementsAre:
        """Return a piece of what runs. The first one reads the kernel anew; the others do if another program has committed since."""
        running = self._held.get_running(request.now) if request.after_set else self._held.read(request.now)
        return build_page(running.ruleset, request.after_set, request.after_key)

    def _answer_counters(self, request: wire.Counters) -> wire.Reading:
        counting = self.start_reading(request)
        for name in counting.sets:
            counting.read(name)
        return self.finish_reading(counting)

    def start_reading(self, request: wire.Counters) -> CounterReader:
        """Begin a reading of all counters. Its sets may be read on other threads, between and beside other operations."""
        self._ledger.acknowledge(request.log, request.acknowledged)
        return CounterReader(self._table, self._held.known_elements, since=self._ledger.last_entry_number)

    def finish_reading(self, counting: CounterReader) -> wire.Reading:
        """Return the reply to Counters, once all sets are read. Raises TableError."""
        counting.check()
        return counting.build_reading(
            boot=self._boot,
            log=self._ledger.name,
            sequence=self._ledger.allocate_reading_number(),
            at=int(self._clock()),
            known=self._held.known_elements,
            gone=self._ledger.pending_entries,
        )

    def _record_deleted_counts(self) -> None:
        """Save the final counts of deleted elements in the ledger.

        Called right after they are deleted, before anything else is done or answered.
        """
        if ended := self._table.take_deleted_counts():
            self._ledger.keep(ended, boot=self._boot, table=self._table.get_handle() or 0)

    def list_dynamic_sets(self) -> dict[str, int]:
        """Return the sets that packets fill, each with its maximum size."""
        return {name: each.size for name, each in self._table.read_declarations().items() if each.dynamic}

    def count_set_elements(self, name: str) -> int:
        """Return the number of elements in a dynamic set. May be called on another thread. Raises TableError."""
        return self._table.count_set_elements(name)

    def build_gauges(self, occupied: Mapping[str, tuple[int, int]]) -> wire.GaugesAre:
        """Build the reply to Gauges, once all dynamic sets are counted."""
        tracked, sysctls = self._table.count_connections(), self._table.read_sysctls()
        return wire.GaugesAre(occupied, tracked, sysctls, self._held.untuned, self._held.unshaped)

    def read_health(self) -> HealthCounters:
        """Return what the machine has counted. May be called on another thread, beside everything else. Raises TableError."""
        return self._table.read_health(boot=self._boot, agent=compute_version(), disk=self._state.directory)

    def read_timeouts(self, stop: Event) -> TimeoutsAre:
        """Return the remaining times of all connections. May be called on another thread, beside everything else. Raises TableError."""
        return self._table.read_timeouts(Deadline(_READING_TIMEOUTS, stop))

    def describe_ruleset(self) -> str:
        """Return as JSON which ruleset runs, as far as it is known without reading it from the kernel. Called between requests."""
        known = self._held.known_digest
        told = {
            "digest": digests.format_digest(known) if known is not None else "",
            "other_program_committed_since": self._held.strayed or self._table.is_disturbed(),
            "confirmed": self._confirmed,
            "trial": self._trial.target if self._trial else "",
            "seconds_until_it_is_taken_back": ceil(self.seconds_left),
            "past": self._past,
            "boot": self._boot,
            "token": self._state.token,
            "elements": {name: len(elements) for name, elements in sorted(self._held.known_elements.items())},
        }
        return json.dumps(told, indent=1)

    def collect_evidence(self, request: CollectEvidence, ruleset: str | None, stop: Event) -> EvidenceCollected:
        """Return all evidence, after `request.seconds` at least. May be called on another thread, beside everything else.

        ruleset: from describe_ruleset, None if the agent was too busy for that. stop: set when the agent ends. Raises WireError.
        """
        if request.seconds not in SECONDS:
            raise WireError(f"request.seconds: {request.seconds} is not between {SECONDS[0]} and {SECONDS[-1]}")
        if len(request.interfaces) > MOST_INTERFACES:
            raise WireError(f"request.interfaces: {len(request.interfaces)} are more than {MOST_INTERFACES}")
        clock = time_ns() // 1_000_000
        readers: dict[EvidenceKind, PartReader] = {
            EvidenceKind.RULESET: lambda _deadline: _build_ruleset_part(ruleset),
            EvidenceKind.HEALTH: lambda _deadline: PartContent(json.dumps(encode(self.read_health()), indent=1).encode()),
            **self._table.build_evidence_readers(request),
        }
        if self._headers:
            readers[EvidenceKind.HEADERS] = partial(ask_for_headers, self._headers, request)
        return EvidenceCollected(self._name, compute_version(), clock, collect_parts(readers, request.seconds, stop))

    def answer_roles(self, request: Roles | Drain) -> RolesAre:
        """Return the roles, after draining if that is asked. May be called on another thread, beside everything else. Raises TableError."""
        if isinstance(request, Drain):
            return self._failover.drain(request.families, drained=request.drained)
        return self._failover.read()

    def answer_files(self, request: InstallFiles | KeepFiles | RevertFiles | FileTrial) -> FileTrialIs:
        """Ask for failover's files to be installed, or how far that got. May be called as answer_roles. Raises TableError."""
        return self._installer.answer(request)


def _build_ruleset_part(ruleset: str | None) -> PartContent:
    if ruleset is None:
        raise PartMissingError("The agent was busy with another operation, so it could not say which ruleset runs.")
    return PartContent(ruleset.encode())
