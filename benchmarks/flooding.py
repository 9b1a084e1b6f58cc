"""flood: whether the carrier keeps its families while a member opens connections as fast as possible and a processor is saturated.

Real keepalived and conntrackd in a lab, with the files that Netzwart renders. Each SYN passes the carrier through NAT, is tracked there
and copied to the other gateway. An endless loop takes what it gets of one processor. Needs root.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Final

from benchmarks.failing_over import GATEWAYS, MEMBER, POLICY, SERVERS
from benchmarks.figures import Figure
from firewall.compile import compile_policy
from firewall.render import render
from lab.failover import find_obstacle, get_directory, list_carriers, route_to_virtual_addresses, run_failover_pair
from lab.lab import Lab
from lab.measure.runs import keep_sending_syns
from lab.topology import load_topology

CLOSED: Final = 81  # port: each SYN is answered by a reset
LOOP: Final = "while True: pass"
LOOK: Final = 0.5  # seconds
ENTERED: Final = re.compile(r"\(inside\d\) Entering MASTER STATE")  # keepalived's log, once for each family


def run(minutes: float, interval: int) -> Iterator[Figure]:
    """Yield how often a gateway took over a family, in so many minutes. interval: centiseconds between advertisements."""
    if reason := find_obstacle():
        raise SystemExit(f"script/bench flood: {reason}")
    with Lab.start(load_topology()) as lab:
        for name in GATEWAYS:
            ruleset = compile_policy(replace(POLICY, gateway=replace(POLICY.gateway, name=name)))
            lab.run(name, ["nft", "-f", "-"], text=render(ruleset, now=0))
        route_to_virtual_addresses(lab)
        with run_failover_pair(lab, interval=interval):
            yield from _iter_figures(lab, minutes)


def _iter_figures(lab: Lab, minutes: float) -> Iterator[Figure]:
    before, without, looks, tracked = count_takeovers(lab), 0, 0, 0
    if not before:
        raise SystemExit("keepalived's log does not say which gateway took over")
    end = time.monotonic() + 60 * minutes
    with ExitStack() as stack:
        stack.enter_context(busy_loop())
        sent = stack.enter_context(keep_sending_syns(lab, "m1", str(MEMBER), *SERVERS, port=CLOSED))
        while time.monotonic() < end:
            time.sleep(LOOK)
            looks += 1
            without += sum(len(list_carriers(lab, family)) != 1 for family in (4, 6))
            tracked = max(tracked, int(lab.run(GATEWAYS[0], ["conntrack", "-C"]).stdout))
        total = sent.stop()
    yield Figure("minutes", minutes, "")
    yield Figure("syns_per_second", total / (60 * minutes), "")
    yield Figure("tracked_connections_max", tracked, "")
    yield Figure("looks", looks, "")
    yield Figure("looks_without_one_carrier", without, "", "== 0")
    yield Figure("takeovers", count_takeovers(lab) - before, "", "== 0")


def count_takeovers(lab: Lab) -> int:
    """Return how often keepalived has made a gateway the carrier of a family, on both."""
    logs = [lab.run(name, ["cat", f"{get_directory(name)}/keepalived.log"]).stdout for name in GATEWAYS]
    return sum(len(ENTERED.findall(log)) for log in logs)


@contextmanager
def busy_loop() -> Iterator[None]:
    """Keep a processor busy until the block ends."""
    with subprocess.Popen([sys.executable, "-S", "-c", LOOP]) as process:
        try:
            yield
        finally:
            process.kill()
