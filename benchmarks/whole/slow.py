"""slow: a first load, changes, a rollback, a takeover, drift and readings, with worker and agents held to a tenth of a core
together.

Nothing may fail and no report may be false, but everything may be later. The durations are reported and have no goal.
"""

import re
import time
from collections.abc import Callable, Iterator
from random import Random
from threading import Thread

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.bans.models import BanList
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState, Revision, Rollout, RolloutStep
from apps.deployments.rollouts.decisions import release_revision_hold
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.services import request_reconcile
from apps.network.models import Gateway
from apps.traffic.models import Collected
from benchmarks.figures import Figure
from benchmarks.whole import verify
from benchmarks.whole.changes import ChangeStream, CommittedChange
from benchmarks.whole.first_rollout import is_at_rest
from benchmarks.whole.process_throttle import Throttle, throttle
from benchmarks.whole.stack import Stack, StackPart, get_group, run_stack, say
from firewall.ruleset import Ruleset
from gateway import elements as codec
from gateway.netlink import GETSETELEM, Netlink
from portal.stack.state_paths import StatePaths
from tests.whole.system import inside

LONGEST = 3600.0  # seconds for one phase; a longer one has failed
TIMED = 5000  # bans with an end
SINGLES = 3
LENGTH = 19  # of a prefix length without bans yet
THERE_AND_BACK = "add chain inet netzwart bench; delete chain inet netzwart bench"
LEASE_LOST = re.compile(r"\blease lost\b")
DRIFT = re.compile(r"\bdrift\b")
BANS = """
    INSERT INTO bans_ban (version, list_id, prefix, comment, author_id, created, expires)
    SELECT 1, %s, ('47.0.0.0'::inet + at)::cidr, 'timed', %s, now(), now() + make_interval(days => 1, secs => at)
    FROM generate_series(1, %s) at
"""
SEEN = """
    SELECT count(*) FROM network_gateway g LEFT JOIN deployments_gatewaystate s ON s.gateway_id = g.id
    WHERE s.snapshot IS NULL OR NOT pg_visible_in_snapshot(%s::xid8, s.snapshot)
"""


def measure(places: StatePaths, *, members: int, seed: int) -> list[Figure]:
    """Measure everything once."""
    say(f"Seed {seed}")
    with throttle() as hold, run_stack(places, members=members) as stack:
        hold.take(_list_pids([stack.worker, stack.collector, *stack.agents.values()]))
        try:
            return list(SlowMachineRun(stack, hold, ChangeStream(Random(seed))).iter_figures())
        finally:
            hold.free()


def _list_pids(parts: list[StackPart]) -> list[int]:
    return [part.pid for part in parts if part.pid]


class SlowMachineRun:
    """Runs the phases, one after the other, and collects their failures."""

    def __init__(self, stack: Stack, hold: Throttle, changes: ChangeStream) -> None:
        self._stack, self._hold, self._changes = stack, hold, changes
        self._late: list[str] = []  # phases that did not end in time

    def iter_figures(self) -> Iterator[Figure]:
        """Yield the time of each phase, and then the counts that must be zero."""
        _run_sql(BANS, [BanList.objects.order_by("pk")[0].pk, self._changes.by.pk, TIMED])
        yield self._time_phase("first_load", self._load_first)
        yield self._time_phase("change", self._make_singles)
        yield self._time_phase("rules", self._change_rules)
        yield self._time_phase("rollback", self._roll_back)
        yield self._time_phase("takeover", self._take_over)
        rollouts = Rollout.objects.count()
        yield self._time_phase("drift", self._cause_drift)
        needless = Rollout.objects.count() - rollouts
        yield self._time_phase("collect", self._collect)
        yield from self._iter_verdict(needless)

    def _time_phase(self, what: str, work: Callable[[], object]) -> Figure:
        say(f"{what} …")
        start = time.monotonic()
        try:
            work()
        except TimeoutError as late:
            self._late.append(f"{what}: {late}")
            say(f"! {self._late[-1]}\n{verify.render_complaints(self._stack)}")
        return Figure(f"{what}_seconds", time.monotonic() - start, "s")

    # --- Phases

    def _load_first(self) -> None:
        xid = _get_current_xid()
        request_reconcile(by=self._changes.by)
        _wait_until(lambda: not _count_behind(xid) or _count_failed() > 0, "both gateways have confirmed")

    def _make_singles(self) -> None:
        for _change in range(SINGLES):
            self._await_confirmed(self._changes.make_single())

    def _await_confirmed(self, commit: CommittedChange) -> None:
        _wait_until(lambda: not _count_behind(commit.xid), "both gateways have confirmed the change")

    def _change_rules(self) -> None:
        come, go = self._changes.make_rules(LENGTH)
        self._await_confirmed(come)
        self._await_confirmed(go())

    def _roll_back(self) -> None:
        """Roll back to the first revision, and forward again to the desired state."""
        _wait_until(is_at_rest, "the rollout before")
        first = Revision.objects.order_by("pk")[0]
        roll_back(first, why="slow", by=self._changes.by, alone=True)
        _wait_until(lambda: _have_arrived(Revision.objects.filter(again=first)), "both gateways have gone back")
        release_revision_hold(get_group(), by=self._changes.by)
        self._await_confirmed(self._changes.make_single())

    def _take_over(self) -> None:
        """Kill the worker while a gateway is being changed; another worker takes over."""
        _wait_until(is_at_rest, "the rollout before")
        commit = self._changes.make_single()
        _wait_until(
            lambda: RolloutStep.objects.filter(state__in=RolloutStep.MOVING).exists() or not _count_behind(commit.xid), "the rollout"
        )
        self._stack.worker.kill()
        self._stack.start_worker()
        self._hold.take(_list_pids([self._stack.worker]))
        self._await_confirmed(commit)

    def _cause_drift(self) -> None:
        """Change our table and take it back in the same transaction, so that each gateway reads everything again. Nothing differs then."""
        _wait_until(is_at_rest, "the rollout before")
        for name in self._stack.agents:
            self._stack.lab.run(name, ["nft", THERE_AND_BACK])
        for _tick in range(2):
            xid = _get_current_xid()
            _wait_until(lambda xid=xid: not _count_behind(xid), "a look at both gateways")  # type: ignore[misc]  # a lambda's default has no type

    def _collect(self) -> None:
        begun = timezone.now()
        both = Collected.objects.filter(at__gte=begun, refused="")
        _wait_until(lambda: both.count() == Gateway.objects.count(), "a reading of each gateway")

    # --- Verdict

    def _iter_verdict(self, needless: int) -> Iterator[Figure]:
        log = self._stack.worker.log.read_text(errors="replace")
        drifted = [line for line in log.splitlines() if DRIFT.search(line) and "gateway=" in line]
        wrong = verify.list_mismatches(self._stack)
        bad = [f"{step.rollout} on {step.gateway}: {step.error}" for step in RolloutStep.objects.filter(state__in=RolloutStep.BAD)]
        for each in [*self._late, *bad, *drifted, *wrong.items()]:
            say(f"! {each}")
        yield Figure("rollouts", Rollout.objects.count(), "")
        yield Figure("failed", len(self._late) + _count_failed(), "", "== 0")
        yield Figure("leases_lost", len(LEASE_LOST.findall(log)), "", "== 0")
        yield Figure("false_drifts", len(drifted) + needless, "", "== 0")
        yield Figure("digest_mismatches", len(wrong), "", "== 0")
        yield Figure("largest_end_error_s", max(_compute_end_error(self._stack, gateway) for gateway in Gateway.objects.all()), "s", "<= 1")


def _wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait until ready. Raises TimeoutError."""
    give_up = time.monotonic() + LONGEST
    while not ready():
        if time.monotonic() > give_up:
            raise TimeoutError(f"{what}: not within {LONGEST:.0f} s")
        time.sleep(0.05)


def _run_sql(query: str, parameters: list[str | int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)


def _get_current_xid() -> str:
    """Return the id of a transaction that every later snapshot sees."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        (xid,) = cursor.fetchone()
    return str(xid)


def _count_behind(xid: str) -> int:
    """Return the number of gateways that have not confirmed a revision that saw this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(SEEN, [xid])
        (behind,) = cursor.fetchone()
    return int(behind)


def _have_arrived(revisions: QuerySet[Revision]) -> bool:
    """Whether all gateways run one of these revisions."""
    return not GatewayState.objects.exclude(revision__in=revisions).exists()


def _count_failed() -> int:
    """Return the number of rollouts that did not bring their revision to all gateways."""
    over = Rollout.objects.exclude(state__in=Rollout.OPEN)
    return over.filter(~Q(state=Rollout.State.CONFIRMED) | Q(steps__state__in=RolloutStep.BAD)).distinct().count()


def _compute_end_error(stack: Stack, gateway: Gateway) -> float:
    """Return the largest difference, in seconds, between the end of an element in the gateway's kernel and in the desired state."""
    ruleset, errors = compute_desired_state(get_group()).rulesets[gateway.pk], [0.0]
    reading = Thread(target=lambda: errors.extend(_iter_end_errors(stack, gateway.name, ruleset)))
    reading.start()
    reading.join()
    return max(errors)


def _iter_end_errors(stack: Stack, name: str, ruleset: Ruleset) -> Iterator[float]:
    timed = [each for each, of in ruleset.sets.items() if of.timeout and ruleset.elements[each]]
    with inside(stack.lab, name):
        own = Netlink()
    for each in timed:
        for bodies, _undisturbed in own.iter_dump(GETSETELEM, codec.pack_set_reference(each)):
            now = time.time()
            for columns in (columns for body in bodies for columns in codec.decode(body)):
                held = zip(columns.keys, columns.remaining, strict=True)
                yield from (abs(now + left / 1000 - ruleset.elements[each][key].expires) for key, left in held if left)
    own.close()
