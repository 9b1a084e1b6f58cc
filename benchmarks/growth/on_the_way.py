"""What a packet costs on its way through a network of one size, in multiples of a gateway that only masquerades."""

from contextlib import closing

from benchmarks.packets import costs, race
from benchmarks.packets.costs import WAYS
from benchmarks.packets.racer import Racer
from benchmarks.packets.rulesets import FULL, PLAIN, build_full_policy, invent_feed
from firewall.compile import compile_policy

ROUNDS = 10


def measure_ratios(members: int) -> dict[str, float]:
    """Return for each direction the median of the rounds' ratios of CPU time."""
    ruleset = compile_policy(build_full_policy(members, invent_feed(members)))
    with closing(Racer(None, members)) as plain, closing(Racer(ruleset, members)) as full:
        rounds = race({PLAIN: plain, FULL: full}, ROUNDS)
    return {f"packet_{way}_ratio": costs.compute_ratio(rounds, way, FULL, PLAIN) for way in WAYS}
