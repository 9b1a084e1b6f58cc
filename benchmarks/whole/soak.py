"""soak: the whole product under random changes and random faults; in the end the gateways must run the desired state, and only
connections that had to break may have broken.

There is a change at least every two seconds, by the services or by raw SQL, and a fault every twenty. A fault may break only the
connections through a gateway that is rebuilt (there is no state sync here). Without faults (`none`) every alarm is a false one.
"""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from random import Random
from threading import Event, Thread

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.alarms.models import Alarm, Severity
from apps.deployments.models import GatewayState, HeldBack, Rollout, RolloutStep
from apps.deployments.rollouts.decisions import approve_part
from apps.gateways.packet_probes.judgement import do_all_pass
from apps.gateways.packet_probes.models import ProbeStatus
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Conflict, Problem
from apps.nat.models import PortForward
from apps.network.models import Holding
from benchmarks.figures import Figure
from benchmarks.whole import verify
from benchmarks.whole.changes import ChangeStream
from benchmarks.whole.faults import Faults
from benchmarks.whole.first_rollout import bring_first_rollout
from benchmarks.whole.stack import Stack, run_stack, say, wait_until
from benchmarks.whole.streams import EchoStream
from portal.stack import commands
from portal.stack.state_paths import StatePaths
from tests.whole.system import INTERNET

CHANGE, FAULT = 2.0, 20.0  # seconds
NONE = "none"
HOSTS = ("10.16.0.10", "10.16.0.11", "10.16.0.12", "10.16.0.13")  # addresses of the members with watched connections
INTERNET6 = "2001:db8:cafe::10"
CONVERGE = 300.0  # seconds without any progress after which waiting for convergence ends

NOT_COMMITTED = "SELECT xid FROM unnest(%s::text[]) xid WHERE pg_xact_status(xid::xid8) IS DISTINCT FROM 'committed'"


class ChangeThread(Thread):
    """Makes changes until it is stopped; changes that the database refused while it was down do not count."""

    def __init__(self, changes: ChangeStream) -> None:
        super().__init__(name="changes", daemon=True)
        self.made, self.refused = 0, 0
        self._changes, self.stop = changes, Event()

    def run(self) -> None:
        while not self.stop.wait(self._changes.random.uniform(0.05, CHANGE)):
            try:
                self._changes.make_any()
                self.made += 1
            except (DatabaseError, InterfaceError, Problem) as error:
                self.refused += 1
                say(f"    refused: {str(error).splitlines()[0]}")
                connection.close()
        connection.close()


def measure(places: StatePaths, *, members: int, minutes: float, seed: int, faults: Sequence[str]) -> list[Figure]:
    """Run for the given minutes, and then until everything is at rest."""
    say(f"Seed {seed}")
    is_quiet = list(faults) == [NONE]
    with run_stack(places, members=members, watched=True) as stack:
        changes = ChangeStream(Random(seed), spared=_list_spared())
        bring_first_rollout(changes.by)
        befall = Faults(stack, Random(seed + 1), ChangeStream(Random(seed + 2), spared=_list_spared()))
        streams = _build_streams(stack, befall)
        torment = ChangeThread(changes)
        for stream in streams:
            stream.start()
        torment.start()
        wait_until(_do_all_gateways_forward, "A probe through each gateway")
        begun = timezone.now()
        if is_quiet:
            torment.join(minutes * 60)  # which ends early if no more changes are made
        kinds = [] if is_quiet else list(faults) or list(befall.kinds)
        done = _inject_faults(befall, kinds, Random(seed + 3), seconds=minutes * 60) if kinds else Counter[str]()
        alarming = [Figure("false_alarms", len(_list_alarms(begun)), "", "== 0")] if is_quiet else []
        torment.stop.set()
        torment.join()
        changes.made += befall.changes.made
        _come_to_rest(stack, changes)
        for stream in streams:
            stream.end()
        return [*_build_figures(stack, changes, befall, torment, streams, done), *alarming]


def _do_all_gateways_forward() -> bool:
    """True if a packet has just come back through every gateway, as the dashboard says it."""
    connection.close()
    statuses = list(ProbeStatus.objects.all())
    return len(statuses) == 2 * len(commands.GATEWAYS) and do_all_pass(statuses, timezone.now())


def _list_alarms(since: datetime) -> list[Alarm]:
    """Return the alarms that began after this time, but for decisions: changes that wait for a second person are no fault."""
    alarms = list(Alarm.objects.filter(began__gte=since).exclude(severity=Severity.DECISION))
    for each in alarms:
        say(f"! alarm at {each.began:%H:%M:%S}, told: {each.reported is not None}: {each.title} {each.evidence}")
    return alarms


def _list_spared() -> frozenset[int]:
    return frozenset(Holding.objects.filter(prefix__in=[f"{host}/32" for host in HOSTS]).values_list("member", flat=True))


def _build_streams(stack: Stack, befall: Faults) -> list[EchoStream]:
    forward = PortForward.objects.filter(is_valid_now(), holding__prefix=f"{HOSTS[0]}/32", protocol="tcp", enabled=True)[0]
    four, six = (lambda: befall.rebuilt["nat-1"]), (lambda: befall.rebuilt["nat-2"])
    return [
        EchoStream(stack.lab, "m3", INTERNET, 443, four),
        EchoStream(stack.lab, "m4", INTERNET, 80, four),
        EchoStream(stack.lab, "internet", str(forward.public), forward.public_port, four),
        EchoStream(stack.lab, "m2", INTERNET6, 443, six),
    ]


def _inject_faults(befall: Faults, kinds: list[str], random: Random, *, seconds: float) -> Counter[str]:
    done: Counter[str] = Counter()
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0:
        begun = time.monotonic()
        kind = random.choice(kinds)
        say(f"{time.monotonic() - start:4.0f} s: {kind}")
        try:
            befall.kinds[kind]()
            done[kind] += 1
        except (DatabaseError, InterfaceError, Problem) as error:
            say(f"    not possible now: {str(error).splitlines()[0]}")
            connection.close()
        time.sleep(max(0.0, min(FAULT - (time.monotonic() - begun), left)))
    return done


# --- Afterwards


def _come_to_rest(stack: Stack, changes: ChangeStream) -> None:
    """Wait until everything is at rest and agrees; approve rollouts that are held back.

    A revision that a gateway did not confirm is tried again when the desired state changes, so this makes one more change.
    """
    connection.close()
    wait_until(_is_answering, "The database")
    changes.make_single()
    moved, give_up = _get_progress(), time.monotonic() + CONVERGE
    while time.monotonic() < give_up:
        for held in HeldBack.objects.filter(state=HeldBack.State.WAITING):
            with suppress(Conflict):  # a worker has just decided or replaced it: what is held is looked up again
                approve_part(held, digest=held.digest, by=User.objects.get(username="jakob"), signed_in_again=True)
        if _is_at_rest() and not _list_unexplained() and not verify.list_mismatches(stack):
            return
        if (now := _get_progress()) != moved:
            moved, give_up = now, time.monotonic() + CONVERGE
        time.sleep(1)
    say(f"It has not come to rest.\n{verify.render_complaints(stack)}")


def _get_progress() -> object:
    """Return a value that changes whenever a rollout begins, makes progress or reports that it is alive."""
    return list(RolloutStep.objects.order_by("-pk").values_list("pk", "state", "heard")[:4])


def _is_answering() -> bool:
    try:
        return Rollout.objects.exists()
    except (DatabaseError, InterfaceError):
        connection.close()
        return False


def _is_at_rest() -> bool:
    return Rollout.objects.exists() and not Rollout.objects.filter(state__in=Rollout.OPEN).exists()


def _list_unexplained() -> list[str]:
    """List rollouts, steps and gateways that are neither fine nor give a reason."""
    over = Rollout.objects.exclude(state__in=Rollout.OPEN)
    rows = [
        *Rollout.objects.filter(state__in=Rollout.OPEN),
        *over.filter(state=Rollout.State.FAILED, error=""),
        *RolloutStep.objects.filter(Q(rollout__in=over) & Q(state__in=[*RolloutStep.MOVING, RolloutStep.State.WAITING])),
        *RolloutStep.objects.filter(state__in=RolloutStep.BAD, error=""),
        *GatewayState.objects.exclude(error="", unreachable_since=None),
    ]
    return [f"{type(row).__name__} {row.pk}: {row} {getattr(row, 'state', '')}" for row in rows]


def _list_lost(stack: Stack, changes: ChangeStream) -> list[str]:
    """List changes that were acknowledged, but are not in the database or not in a kernel, as nft lists it."""
    with connection.cursor() as cursor:
        cursor.execute(NOT_COMMITTED, [changes.made])
        gone = [f"transaction {xid}" for (xid,) in cursor.fetchall()]
    wanted = {f"{address}/32" for address in changes.list_banned()}
    return gone + [f"{address} on {name}" for name in stack.agents for address in wanted - verify.list_banned(stack, name)]


def _build_figures(
    stack: Stack, changes: ChangeStream, befall: Faults, torment: ChangeThread, streams: list[EchoStream], done: Counter[str]
) -> list[Figure]:
    wrong, lost, states = verify.list_mismatches(stack), _list_lost(stack, changes), _list_unexplained()
    broken = [each for stream in streams for each in stream.broken]
    for each in [*wrong.items(), *lost, *broken, *states]:
        say(f"! {each}")
    say(f"Faults: {dict(done)}; refused while the database was away: {torment.refused}")
    return [
        Figure("changes", torment.made, ""),
        Figure("faults", done.total(), ""),
        Figure("rollouts", Rollout.objects.count(), ""),
        Figure("rebuilt_gateways", sum(befall.rebuilt.values()), ""),
        Figure("digest_mismatches", len(wrong), "", "== 0"),
        Figure("lost_changes", len(lost), "", "== 0"),
        Figure("broken_flows", len(broken), "", "== 0"),
        Figure("unexplained_states", len(states), "", "== 0"),
    ]
