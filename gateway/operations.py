"""The agent's operations, one for each request of firewall/wire.py.

A request comes in, a reply goes out; between them are one table and one state directory. This module knows no socket and no nft.
One operation runs at a time, but counters may be read beside others. What takes more than a reading has a module of its own: changes
of the ruleset (gateway/ruleset_changes.py), counters, evidence, failover.
"""

import json
import logging
from collections.abc import Callable, Mapping
from math import ceil, inf
from pathlib import Path
from threading import Event
from time import monotonic

from firewall import digest as digests
from firewall import live_trace, wire
from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, ReadProgram, StoreProgram, TryProgram
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre
from firewall.diff import diff
from firewall.evidence import CollectEvidence
from firewall.file_trial import FileTrial, InstallFiles, KeepFiles, RevertFiles
from firewall.health import HealthCounters, ReadHealth
from firewall.machine import Describe
from firewall.probe_messages import Probe, ReadProbes
from firewall.render import render_beginning
from firewall.roles import Drain, Roles
from firewall.ruleset import drop_expired
from firewall.running_elements import ElementsAre, ReadElements
from firewall.summary import count_kernel_changes
from gateway.block_ends import BlockEnds
from gateway.clock import GatewayClock
from gateway.counters import GatewayCounters
from gateway.element_pages import build_page
from gateway.evidence.collector import EvidenceCollector
from gateway.evidence.part import Deadline
from gateway.failover_files import FailoverFileRequests
from gateway.failover_roles import SETTINGS, FailoverRoles
from gateway.fencing_token import claim_token
from gateway.live_trace import LiveTrace
from gateway.machine import describe_machine
from gateway.persistent_state import StateDirectory
from gateway.probes.counted import CountedProbes
from gateway.programs.requests import AgentPrograms
from gateway.refusals import REFUSALS, OperationRefusedError, build_refused
from gateway.release import compute_version
from gateway.returned_flows import ReturnedFlows
from gateway.ruleset_changes import RulesetChanges
from gateway.ruleset_inspection import check_capacities, check_ruleset, inspect_management
from gateway.table import NftTable
from gateway.table_state import TableState
from gateway.uplink_queues import UplinkQueues, describe_lack

_MOST_TEXT = 256 << 10
_READING_TIMEOUTS = 5.0  # seconds; half a million connections take so long on two cores that also do other work

log = logging.getLogger("gateway")


class Agent:
    """One gateway's operations.

    clock: returns Unix seconds. steady: returns seconds of CLOCK_MONOTONIC. boot: the kernel's boot id. probes: the prober's
    socket, if the gateway has one. failover: where failover.conf is if failover is set up. installer: installs its files.
    headers: the socket of the process that takes packet headers; None: the agent takes them itself. programs: what its launcher said
    about its program. Public attributes are the parts that its server also asks beside other operations.
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
        self._name, self._boot = name, boot
        self._clock = GatewayClock(clock, steady)
        self._ends_moved = False  # the clock was moved, and the kernel's expiry times were not yet
        self._ended_by = 0.0  # what the clock showed before it was put back; 0: what had ended by it is there again
        self._held = TableState(table, self._clock)
        self.roles, self.installer = FailoverRoles(table, failover), installer or FailoverFileRequests(None)
        self.programs = programs or AgentPrograms(None)
        self.probes = CountedProbes(probes, table)
        self.live = LiveTrace(table, lambda: self._held.rules, steady)
        self.counters = GatewayCounters(table, self._held, state.ledger, clock=self._clock, boot=boot)
        self.evidence = EvidenceCollector(table, name=name, headers=headers, read_health=self.read_health)
        self.queues = UplinkQueues(table, self._held)
        self.returned_flows = ReturnedFlows(table, self._held, self.roles, clock=self._clock, steady=steady)
        self.block_ends = BlockEnds(table, self._held, clock=self._clock)
        self.changes = RulesetChanges(
            table,
            state,
            self._held,
            clock=self._clock,
            steady=steady,
            counters=self.counters,
            queues=self.queues,
            returned=self.returned_flows,
            block_ends=self.block_ends,
            programs=self.programs,
        )

    def answer(self, request: wire.Request, opened: float = inf) -> wire.Reply:
        """Execute the request and return the reply, or Refused with the reason.

        opened: when the request's connection was opened, on the steady clock; inf: just now.
        """
        self._table.progress.begin("comparing" if isinstance(request, wire.Plan | wire.Apply) else "working")
        try:
            self.changes.take_back_overdue()
            self._set_clock(request)
            return self._do(request, opened)
        except REFUSALS as error:
            return build_refused(error)
        finally:
            self._table.progress.end()

    @property
    def beat(self) -> wire.Beat:
        """The progress of the running operation. May be read on another thread."""
        return self._table.progress.beat

    def _set_clock(self, request: wire.Request) -> None:
        """Adjust the clock to the portal's as far as the request gives certain bounds, and then the kernel's expiry times to the clock."""
        bound, before = getattr(request, "not_later", None), self._clock()
        moved = self._clock.limit(bound.steady / 1000, bound.latest / 1000) if bound else False
        if moved:
            self._ended_by = max(self._ended_by, before)
        if self._clock.follow(getattr(request, "sent", 0) / 1000) or moved:
            log.warning("the clock was set to the portal's: %s", self._clock.format())
            self._ends_moved = True
        if self._ends_moved:
            self._held.correct_element_expiries()
            self.counters.record_deleted_counts()
            self._ends_moved = False
        if self._ended_by and not self.changes.is_on_trial:
            self.changes.return_unexpired(self._ended_by)
            self._ended_by = 0.0

    def _do(self, request: wire.Request, opened: float) -> wire.Reply:
        match request:
            case wire.Hello():
                return self._answer_hello(request)
            case wire.Plan():
                return self._plan(request)
            case wire.Apply():
                return self.changes.apply(request)
            case wire.Confirm():
                return self.changes.confirm(request, opened)
            case wire.Revert():
                return self.changes.revert(request)
            case wire.Digest():
                return self._answer_digest(request)
            case wire.Drift():
                return self._answer_drift(request)
            case ReadElements():
                return self._read_elements(request)
            case wire.Counters():
                return self.counters.read_all(request)
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
                return self.evidence.collect(request, self.describe_ruleset(), Event())
            case Describe():
                return describe_machine(self._table, self._name)
            case Roles() | Drain():
                return self.roles.answer(request)
            case InstallFiles() | KeepFiles() | RevertFiles() | FileTrial():
                return self.installer.answer(request)
            case ReadProgram():
                return self.programs.read()
            case StoreProgram() | TryProgram() | KeepProgram() | DropProgram():
                return self._change_program(request)

    def _answer_hello(self, request: wire.Hello) -> wire.Welcome:
        if request.token:
            claim_token(self._state, request.token)
        self._state.try_disk()
        running = self._held.reread_if_settings_altered(request.now)
        digest = digests.format_digest(running.digest) if self._held.rules_known else ""
        changes = self.changes
        confirmed = changes.confirmed if changes.is_on_trial or self._held.strayed or not changes.confirmed else digest
        trial, left = changes.trial_target, ceil(changes.seconds_left)
        told = (self._name, compute_version(), digest, confirmed, self._state.token, self._boot, self._table.in_memory)
        faults = (self._state.unwritable, changes.damage)
        moment = (round(self._clock() * 1000), round(self._steady() * 1000))
        return wire.Welcome(*told, trial, left, changes.applied_last, *faults, *moment)

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
        claim_token(self._state, request.token)
        if self.changes.is_on_trial and isinstance(request, TryProgram):
            raise OperationRefusedError("state", "a ruleset waits to be confirmed here; try the program after that")
        return self.programs.change(request)

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
            "confirmed": self.changes.confirmed,
            "trial": self.changes.trial_target,
            "seconds_until_it_is_taken_back": ceil(self.changes.seconds_left),
            "past": self.changes.past,
            "boot": self._boot,
            "token": self._state.token,
            "elements": {name: len(elements) for name, elements in sorted(self._held.known_elements.items())},
        }
        return json.dumps(told, indent=1)
