"""Loads a network of one size into a kernel through the agent, changes it, and reads its counters."""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from benchmarks import counting
from benchmarks.agent import PortalStub, measure_one_element
from benchmarks.packets.rulesets import build_full_policy, invent_feed
from benchmarks.peak_memory import read_peak_mib
from firewall import digest
from firewall.compile import compile_policy
from firewall.render import render
from firewall.ruleset import Ruleset

MOST_BY_NFT = 100_000  # members: nft takes more than a kilobyte of memory for each element
KERNEL_MEMORY = ("Slab", "Percpu", "VmallocUsed")  # of /proc/meminfo: elements, their counters, and the tables that find them


def measure_in_process(members: int) -> dict[str, float]:
    """Measure in a process and a network namespace of its own."""
    command = ["unshare", "--net", sys.executable, "-m", "benchmarks.growth", str(members)]
    answer: dict[str, float] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return answer


def measure(members: int) -> dict[str, float]:
    """Measure in this process, whose peak of memory is then that of the agent and of the ruleset that it is given."""
    ruleset = compile_policy(build_full_policy(members, invent_feed(members)))
    with TemporaryDirectory() as directory:
        portal, before = PortalStub(Path(directory)), _read_kernel_mib()
        start = time.perf_counter()
        portal.load(ruleset, digest.digest_ruleset(ruleset))
        load = time.perf_counter() - start
        kernel = _read_kernel_mib() - before
        peak = read_peak_mib()
        one_element = measure_one_element(portal, ruleset)
        counters = counting.measure_reading(portal.agent, Path(directory, "counters"))
    return {
        "elements": ruleset.count_elements(),
        "load_seconds": load,
        **({"bare_nft_seconds": _measure_bare_load(ruleset)} if members <= MOST_BY_NFT else {}),
        "kernel_mib": kernel,
        "agent_mib": peak,
        "element_added_ms": one_element["element_added_ms"],
        "counters_seconds": counters,
    }


def _measure_bare_load(ruleset: Ruleset) -> float:
    """Return the seconds that `nft -f` takes for the same ruleset, in a namespace of its own."""
    with NamedTemporaryFile("w", suffix=".nft") as script:
        script.write(render(ruleset, now=int(time.time())))
        script.flush()
        start = time.perf_counter()
        subprocess.run(["unshare", "--net", "nft", "-f", script.name], check=True)
        return time.perf_counter() - start


def _read_kernel_mib() -> float:
    lines = (line.partition(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return sum(int(rest.split()[0]) for name, _colon, rest in lines if name in KERNEL_MEMORY) / 1024
