"""Reads and compiles a whole network of any size from the database, and then single changes.

Comes in: a database that `benchmarks.changes.fill` has filled. Goes out: measurements by name.
"""

import time
from collections.abc import Callable
from statistics import median, quantiles

from apps.deployments.desired_state.desired_rulesets import DesiredState, compile_snapshot
from apps.deployments.desired_state.policy_snapshot import take_snapshot
from apps.network.models import GatewayGroup
from benchmarks.changes import FORWARD, time_changes
from benchmarks.disturbance import measure_python_seconds
from benchmarks.peak_memory import read_peak_mib


def measure(members: int) -> dict[str, float]:
    """Measure in this process, which has read nothing before: seconds, MiB (the peak, of everything), and milliseconds of a change."""
    group = GatewayGroup.objects.get()
    reading, compiling, known = _read_and_compile(group)
    peak = read_peak_mib()
    changes, _last = time_changes(group, known, FORWARD.format(members=members))
    totals = [each.total for each in changes]
    return {
        "compile_s": reading + compiling,
        "read_s": reading,
        "pure_compile_s": compiling,
        "compile_rss_mib": peak,
        "change_ms": median(totals),
        "change_p99_ms": quantiles(totals, n=100)[98],
        "elements": next(iter(known.rulesets.values())).count_elements(),
        "python_s": median(measure_python_seconds() for _ in range(20)),
    }


def _read_and_compile(group: GatewayGroup) -> tuple[float, float, DesiredState]:
    """Return the seconds of both, and the state. The policy is dropped, as in `compute_desired_state`."""
    reading, taken = _time_call(lambda: take_snapshot(group))
    compiling, known = _time_call(lambda: compile_snapshot(taken))
    return reading, compiling, known


def _time_call[Result](work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
