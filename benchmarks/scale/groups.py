"""Many groups of two gateways: processor time of all programs while nothing changes, and the time of changes to random groups.

Comes in: an empty database, and the environment of a state directory. Everything runs as `portal.programs` says; only the gateways
keep their rulesets in memory.
"""

import os
import time
from pathlib import Path
from random import Random
from statistics import median

from django.db import connection

from apps.accounts.models import User
from apps.deployments.models import GatewayState
from apps.deployments.services import request_reconcile
from apps.gateways.health.models import HealthStatus
from apps.lib.enqueue import send_task
from apps.network.models import Gateway
from apps.traffic.models import Collected
from benchmarks.disturbance import measure_python_seconds
from benchmarks.scale.many_groups import write_network
from benchmarks.scale.portal_programs import RunningPortal, run_portal, serve_gateways
from benchmarks.scale.processor_use import read_processor_seconds
from benchmarks.scale.steady_changes import GroupChanges, hear_confirmations, make_changes, wait_for_confirmations
from benchmarks.whole.stack import say, wait_until
from portal.stack.state_paths import StatePaths

CHANGES_A_SECOND = 5.0
LONGEST = 3600.0  # seconds; first rollouts to all groups take long on a slow machine


def measure(gateways: int, seconds: float, seed: int) -> dict[str, float]:
    """Measure with this many gateways. Returns seconds of changes, and shares of one core by program, named `cpu NAME`."""
    places = StatePaths.from_directory(Path(os.environ["NETZWART_VAR"]))
    say(f"{gateways} gateways in {gateways // 2} groups …")
    by = write_network(gateways)
    names = list(Gateway.objects.order_by("pk").values_list("name", flat=True))
    with serve_gateways(places, names), run_portal(places) as portal:
        first = bring_first_rollouts(by, gateways)
        wait_until_read(gateways)
        say(f"Nothing changes for {seconds:.0f} s …")
        idle = measure_processor_shares(portal, seconds)
        say(", ".join(f"{name} {share:.3f}" for name, share in idle.items()))
        say(f"{CHANGES_A_SECOND:.0f} changes a second for {seconds:.0f} s …")
        changes = measure_changes(portal, by, seconds, seed)
    return {"first_rollouts_s": first, **idle, **changes}


def bring_first_rollouts(by: User, gateways: int) -> float:
    """Wait until every gateway has confirmed its first ruleset. Return the seconds."""
    begun = time.monotonic()
    request_reconcile(by=by)
    confirmed = GatewayState.objects.exclude(digest="").exclude(revision=None)
    wait_until(lambda: confirmed.count() == gateways, "The first rollouts", seconds=LONGEST)
    return time.monotonic() - begun


def wait_until_read(gateways: int) -> None:
    """Wait until health and counters of every gateway have been read, so that all channels are open. Their schedule begins late."""
    send_task("workers.collect")
    counted = Collected.objects.exclude(at=None)
    wait_until(lambda: HealthStatus.objects.count() == gateways and counted.count() == gateways, "A reading of every gateway")


def measure_processor_shares(portal: RunningPortal, seconds: float) -> dict[str, float]:
    """Return the shares of one core that each program uses."""
    each = {**portal.programs, **portal.servers}
    before, begun = read_processor_seconds(each), time.monotonic()
    time.sleep(seconds)
    after, lasted = read_processor_seconds(each), time.monotonic() - begun
    return {f"cpu {name}": (after[name] - before[name]) / lasted for name in each}


def sum_processor_seconds(portal: RunningPortal) -> float:
    """Return the seconds that all programs and servers have used so far."""
    return sum(read_processor_seconds({**portal.programs, **portal.servers}).values())


def measure_changes(portal: RunningPortal, by: User, seconds: float, seed: int) -> dict[str, float]:
    """Return percentiles, in seconds from a commit until both gateways had confirmed it, and the processor time of all programs."""
    before, begun = sum_processor_seconds(portal), time.monotonic()
    with hear_confirmations(os.environ["NETZWART_DATABASE_URL"]) as log:
        made = make_changes(GroupChanges(Random(seed), by), a_second=CHANGES_A_SECOND, seconds=seconds)
        took = sorted(wait_for_confirmations(log, made))
    used, lasted = sum_processor_seconds(portal) - before, time.monotonic() - begun
    connection.close()
    return {
        "busy_cores": used / lasted,
        "busy_s": lasted,
        "changes": len(took),
        "change_p50_s": _get_percentile(took, 0.5),
        "change_p99_s": _get_percentile(took, 0.99),
        "change_max_s": took[-1],
        "python_s": median(measure_python_seconds() for _ in range(20)),
    }


def _get_percentile(ordered: list[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
