"""packets: cost of a packet through the whole ruleset, beside a single masquerade rule: up, down, and a connection's first.

Each competitor has a gateway of its own, and they take turns on one CPU, in many short bursts; the measure is the CPU time of the
sender's thread, which does all work up to the far end. 6,000 members send, with a connection each, in random order; the others
only exist. Needs root.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.packets import costs
from benchmarks.packets.costs import WAYS, Round
from benchmarks.packets.racer import Racer
from benchmarks.packets.rulesets import FULL, PLAIN, WITHOUT, build_full_policy
from firewall.compile import compile_policy
from firewall.policy import Policy

ROUNDS, WITH_EXPLANATION = 40, 10
LARGE = 100_000  # the goals are set for this size


def run(members: int, *, feed: str = "", explain: bool = False) -> Iterator[Figure]:
    """Yield medians over ROUNDS."""
    if os.geteuid():
        raise SystemExit("script/bench packets needs root: for network namespaces and nftables")
    policy = build_full_policy(members, read_addresses(Path(feed)) if feed else None)
    ruleset = compile_policy(policy)
    with ExitStack() as open_until:
        racers = {PLAIN: Racer(None, members), FULL: Racer(ruleset, members)}
        for racer in racers.values():
            open_until.enter_context(closing(racer))
        rounds = race(racers, ROUNDS)
        if explain:
            for line in iter_explanation(policy, racers, members):
                print(line, file=sys.stderr, flush=True)
    yield Figure("elements", ruleset.count_elements(), "")
    yield Figure("rules", ruleset.count_rules(), "")
    yield from costs.iter_figures(rounds, FULL, PLAIN, judged=members >= LARGE)


def read_addresses(feed: Path) -> list[IPv4Address]:
    """Read the addresses of a feed: the first word of each line that is not a comment."""
    lines = feed.read_text().splitlines()
    return list(dict.fromkeys(IPv4Address(line.split()[0]) for line in lines if line.strip() and not line.startswith("#")))


def iter_explanation(policy: Policy, racers: dict[str, Racer], members: int) -> Iterator[str]:
    """Yield a line for each part that can be switched off: its cost, measured by leaving it out."""
    yield costs.HEADING
    for name, without in WITHOUT.items():
        with closing(Racer(compile_policy(without(policy)), members)) as racer:
            yield costs.render_explanation(race({**racers, name: racer}, WITH_EXPLANATION), name, FULL, PLAIN)


def race(racers: dict[str, Racer], rounds: int) -> list[Round]:
    """Run all directions in turn, in each all competitors in turn; another competitor begins in each round."""
    found = []
    for number in range(rounds):
        for way in WAYS:
            order = list(racers) if number % 2 else list(reversed(racers))
            found.append(Round(way, {name: racers[name].run_turn(way) for name in order}))
    return found
