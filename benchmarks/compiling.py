"""compile: from a policy to a ruleset, whole and by one member's change, in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.baselines import PYTHON
from benchmarks.disturbance import measure_python_seconds
from benchmarks.figures import Figure
from benchmarks.networks import build_one_member, build_policy
from benchmarks.peak_memory import read_peak_mib
from firewall.compile import compile_change, compile_policy
from firewall.digest import digest_ruleset
from firewall.policy import TouchedKeys
from firewall.render import render

RUNS = 5
CHANGES = 200


def run(members: int) -> Iterator[Figure]:
    """Compile a network of this many members, RUNS times, each in a fresh process; yield medians."""
    answers = [measure_in_process(members) for _ in range(RUNS)]

    def middle(name: str) -> float:
        return median(answer[name] for answer in answers)

    def time_of(name: str, goal: str | None = None, ratio_goal: str | None = None) -> Figure:
        python = middle("python_seconds") * (1000 if name.endswith("_ms") else 1)
        return Figure(name, middle(name), name.rpartition("_")[2].removesuffix("econds"), goal, python, PYTHON, ratio_goal)

    large = members >= 100_000
    yield time_of("seconds", *(("<= 3", "<= 100") if large else ()))
    yield Figure("peak_mib", middle("peak_mib"), "MiB", "<= 1024" if large else None)
    yield Figure("elements", middle("elements"), "")
    yield Figure("rules", middle("rules"), "", "< 200")
    yield time_of("delta_one_member_ms", "<= 2", "<= 0.05")
    yield time_of("digest_seconds")
    yield time_of("render_seconds")


def measure_in_process(members: int) -> dict[str, float]:
    """Measure one run in a fresh process."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.compiling", str(members)], capture_output=True, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def measure(members: int) -> dict[str, float]:
    """Measure one run, in this process. The policy is the input: it is built before the clock starts, but counts in the memory peak."""
    asked = build_policy(members)
    seconds, ruleset = _time_call(lambda: compile_policy(asked))
    peak = read_peak_mib()
    newcomers = [build_one_member(members + at) for at in range(CHANGES)]
    changes = [_time_call(lambda come=come: compile_change(ruleset, touched=TouchedKeys(), come=come))[0] for come in newcomers]  # type: ignore[misc]  # a lambda's default has no type
    python = median(measure_python_seconds() for _ in range(CHANGES // 10))
    digest_seconds, _ = _time_call(lambda: digest_ruleset(ruleset))
    render_seconds, _ = _time_call(lambda: render(ruleset, now=0))
    return {
        "seconds": seconds,
        "python_seconds": python,
        "peak_mib": peak,
        "elements": ruleset.count_elements(),
        "rules": ruleset.count_rules(),
        "delta_one_member_ms": median(changes) * 1000,
        "digest_seconds": digest_seconds,
        "render_seconds": render_seconds,
    }


def _time_call[Result](work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
