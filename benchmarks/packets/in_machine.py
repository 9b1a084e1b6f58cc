"""Counts instructions per packet, in the emulated machine: `python3 -m benchmarks.packets.in_machine MEMBERS ROUNDS [NAME …]`.

Prints a line of JSON for each competitor and direction (emulated_machine.MARK): its name, the direction, and the median.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.packets import costs
from benchmarks.packets.costs import WAYS, Round
from benchmarks.packets.emulated_machine import MARK
from benchmarks.packets.racer import Racer
from benchmarks.packets.rulesets import FULL, PLAIN, WITH_QUEUES, WITHOUT, build_full_policy, invent_feed
from firewall.compile import compile_policy
from firewall.policy import Shaping
from firewall.ruleset import Ruleset, UplinkShaper
from firewall.shaper import RATES

WITHOUT_FEATURE, WITHOUT_CHAIN = "without ", "without the chain "
NEVER_FULL = Shaping(RATES[-1], RATES[-1])  # each packet goes through a queue, and waits in none
BANS = 2_000  # a large feed costs no more instructions than this: hash tables grow with their elements
CONNECTIONS = 262_144  # of the table, so that it is neither full nor its hash chains long


def build(name: str, members: int) -> Ruleset | None:
    """Build the competitor's ruleset; None: a masquerade rule alone."""
    if name == PLAIN:
        return None
    policy = build_full_policy(members, invent_feed(BANS))
    if name == WITH_QUEUES:
        return replace(compile_policy(policy), shaper=UplinkShaper("wan0", NEVER_FULL, 64))
    if name.startswith(WITHOUT_CHAIN):
        full, left_out = compile_policy(policy), name.removeprefix(WITHOUT_CHAIN)
        return replace(full, chains={each: chain for each, chain in full.chains.items() if each != left_out})
    return compile_policy(policy if name == FULL else WITHOUT[name.removeprefix(WITHOUT_FEATURE)](policy))


def count(members: int, rounds: int, names: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield the instructions per packet of each competitor, in each direction."""
    for name in names:
        with closing(Racer(build(name, members), members)) as racer:
            turns = [Round(way, {name: racer.run_turn(way)}) for _ in range(rounds) for way in WAYS]
        for way in WAYS:
            yield {"name": name, "way": way, "instructions": costs.compute_cost(turns, way, name)}


def main(argv: Sequence[str]) -> None:
    """Count, and print."""
    Path("/sys/module/nf_conntrack/parameters/hashsize").write_text(str(CONNECTIONS))
    Path("/proc/sys/net/netfilter/nf_conntrack_max").write_text(str(CONNECTIONS))
    for each in count(int(argv[0]), int(argv[1]), argv[2:]):
        print(MARK + json.dumps(each), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
