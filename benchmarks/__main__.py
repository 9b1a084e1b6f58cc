"""script/bench: run one benchmark, or all of them, and print the figures.

Exit status: 0 if every goal is met, 2 if a goal is missed, 1 if a benchmark failed, 130 if it was interrupted.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from benchmarks import (
    agent,
    changes,
    collecting,
    compiling,
    failing_over,
    fair,
    flooding,
    growth,
    importing,
    linking,
    mailing,
    packets,
    paging,
    reading_health,
    scale,
    serving,
    shaping,
    ticketing,
    whole,
    years,
)
from benchmarks.disturbance import watch_disturbance
from benchmarks.figures import Figure, describe_machine, render_json, render_table
from benchmarks.packets import instructions
from benchmarks.sequence import INTERRUPTED, MISSED, choose_status, run_in_sequence, run_patiently

BENCHMARKS: dict[str, Callable[[Namespace], Iterable[Figure]]] = {
    "agent": lambda given: agent.run(given.members),
    "api": lambda given: serving.run(given.members),
    "change": lambda given: changes.run(given.members),
    "collect": lambda given: collecting.run(given.members, given.days),
    "compile": lambda given: compiling.run(given.members),
    "commit": lambda given: whole.run(
        "commit", members=given.members, bans=given.bans, explain=given.explain, singles=given.changes, seed=given.seed
    ),
    "failover": lambda given: failing_over.run(given.interval),
    "fair": lambda _given: fair.run(),
    "flood": lambda given: flooding.run(given.minutes, given.interval),
    "growth": lambda given: growth.run(given.members, draw=given.draw),
    "health": lambda _given: reading_health.run(),
    "import": lambda given: importing.run(given.members),
    "link": lambda given: linking.run(given.members),
    "mail": lambda given: chain(mailing.run(given.mails), ticketing.run(given.tickets)),
    "packets": lambda given: (
        instructions.run(given.members, explain=given.explain, record=given.record)
        if given.count
        else packets.run(given.members, feed=given.feed, explain=given.explain)
    ),
    "pages": lambda given: paging.run(given.members),
    "scale": lambda given: scale.run(given.members, given.gateways, given.seconds, given.seed),
    "shape": lambda _given: shaping.run(),
    "slow": lambda given: whole.run("slow", members=given.members, seed=given.seed),
    "soak": lambda given: whole.run("soak", members=given.members, minutes=given.minutes, seed=given.seed, faults=given.faults),
    "years": lambda given: years.run(given.members, given.years),
}
MEMBERS = 100_000
OTHER_SIZES = {"growth": growth.LARGEST, "scale": 1_000_000, "slow": 10_000, "years": 6_000}
SUMMARIES = {
    "agent": agent.__doc__,
    "api": serving.__doc__,
    "change": changes.__doc__,
    "collect": collecting.__doc__,
    "compile": compiling.__doc__,
    "commit": "commit: from a commit in the database to both gateways confirmed, with everything real; one by one and in a burst",
    "failover": failing_over.__doc__,
    "fair": fair.__doc__,
    "flood": flooding.__doc__,
    "growth": growth.__doc__,
    "health": reading_health.__doc__,
    "import": importing.__doc__,
    "link": linking.__doc__,
    "mail": mailing.__doc__,
    "packets": packets.__doc__,
    "pages": paging.__doc__,
    "scale": scale.__doc__,
    "shape": shaping.__doc__,
    "slow": "slow: a deploy and all that belongs to it, with worker and agents held to a tenth of a core; nothing may fail or be false",
    "soak": "soak: random changes and random faults for some minutes, with everything real; nothing may be lost",
    "years": years.__doc__,
}
ALL = "all"
MOST_GATEWAYS = 500  # groups of two with a /16 each in 10.0.0.0/8
# Benchmarks that create databases of their own on a server; without NETZWART_DATABASE_URL they also start a server of their own.
ON_A_SERVER = {"api", "change", "collect", "health", "import", "mail", "pages", "scale", "years"}


def render_benchmark_list() -> str:
    """Return the list of benchmarks: each name with its summary."""
    lines = [f"{name:10} {(words or '').splitlines()[0].partition(': ')[2]}" for name, words in SUMMARIES.items()]
    return "\n".join([*lines, f"{ALL:10} one after the other, each in a process of its own"])


def main(argv: Sequence[str]) -> int:
    """Run the benchmark that the command line names."""
    parser = build_parser()
    given = parser.parse_args(argv)
    if given.list:
        print(render_benchmark_list())
        return 0
    if given.name is None:
        parser.error("name a benchmark; --list shows them")
    if given.members is not None and not 0 < given.members <= 1_000_000:
        parser.error("--members: choose 1 to 1000000")
    if (given.count and given.name != "packets") or (given.record and not given.count):
        parser.error("--count belongs to packets, and --record to packets --count")
    if given.draw and given.name != "growth":
        parser.error("--draw belongs to growth")
    if given.name == ALL:
        return run_all([each for each in argv if each not in (ALL, "--json")], in_json=given.json)
    if given.name in ON_A_SERVER and "NETZWART_DATABASE_URL" not in os.environ:
        return run_on_a_server(argv)
    usual = instructions.MEMBERS if given.count else OTHER_SIZES.get(given.name, MEMBERS)
    given.members = given.members or usual
    return run_one(given)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/bench",
        description=__doc__,
        epilog="Benchmarks:\n" + render_benchmark_list(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=[*sorted(BENCHMARKS), ALL], help="which one")
    other = ", ".join(f"{name}: {number}" for name, number in OTHER_SIZES.items())
    parser.add_argument("--members", type=int, help=f"size of the network (default: {MEMBERS}; {other})")
    parser.add_argument("--bans", action="store_true", help="commit: beside a feed of 120,000 bans")
    parser.add_argument("--changes", type=int, default=200, help="commit: how many single changes (default: %(default)s)")
    parser.add_argument("--explain", action="store_true", help="commit, packets: say where the time goes, on standard error")
    parser.add_argument("--feed", default="", metavar="FILE", help="packets: bans from here, an address a line, not invented ones")
    parser.add_argument("--count", action="store_true", help="packets: instructions, in an emulated machine, instead of time")
    parser.add_argument("--record", action="store_true", help="packets --count: write down what a packet costs with these chains")
    parser.add_argument("--draw", action="store_true", help="growth: write the figures down, and draw the pictures of the documentation")
    parser.add_argument("--minutes", type=float, default=10, help="flood, soak: how long (default: %(default)s)")
    text = "failover, flood: hundredths of a second between two advertisements of a gateway (default: %(default)s)"
    parser.add_argument("--interval", type=int, default=20, metavar="N", help=text)
    parser.add_argument(
        "--faults", nargs="+", default=[], metavar="NAME", help="soak: only these, or none (benchmarks/whole/faults.py names them)"
    )
    parser.add_argument("--days", type=int, default=730, help="collect: days of everybody's usage in the table (default: %(default)s)")
    parser.add_argument("--tickets", type=int, default=200_000, help="mail: how many there are (default: %(default)s)")
    parser.add_argument("--mails", type=int, default=500, help="mail: how many each way (default: %(default)s)")
    parser.add_argument("--gateways", type=_parse_gateways, default=200, metavar="N", help="scale: in groups of two (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="scale: without changes, and with them (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="commit, scale, slow, soak: of the random numbers (default: %(default)s)")
    parser.add_argument(
        "--years", type=int, choices=range(1, 21), default=10, metavar="N", help="years: how many, 1 to 20 (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    return parser


def _parse_gateways(text: str) -> int:
    """Parse an even number of gateways, as many as the benchmark has addresses for."""
    if not text.isdecimal() or not 2 <= int(text) <= MOST_GATEWAYS or int(text) % 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not possible: choose an even number from 2 to {MOST_GATEWAYS}")
    return int(text)


def run_one(given: Namespace) -> int:
    """Run one benchmark in this process."""
    with watch_disturbance() as disturbance:
        figures = list(BENCHMARKS[given.name](given))
    shown = render_json if given.json else render_table
    print(shown(given.name, figures, disturbance.to_dict()))
    missed = [figure.name for figure in figures if figure.is_met is False]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return MISSED if missed else 0


def run_on_a_server(argv: Sequence[str]) -> int:
    """Run the same command with a PostgreSQL of its own, in a directory that is removed afterwards."""
    directory = tempfile.mkdtemp(prefix="nw-bench-")
    Path(directory, "static").mkdir()
    command = [sys.executable, "-m", "portal.stack", "run", "--var", directory, "--", sys.executable, "-m", "benchmarks", *argv]
    try:
        return run_patiently(command)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def run_all(options: Sequence[str], *, in_json: bool) -> int:
    """Run every benchmark. If one fails, the output names it, and the others continue."""
    given = [*options, *(["--json"] if in_json else [])]
    ends = run_in_sequence({name: [sys.executable, "-m", "benchmarks", name, *given] for name in BENCHMARKS}, in_json=in_json)
    if in_json:
        print(json.dumps({"bench": ALL, "machine": describe_machine(), "benches": [end.answer for end in ends.values()]}, indent=1))
    print("\n".join(f"{name:10} {end.outcome}" for name, end in ends.items()), file=sys.stderr)
    return choose_status(ends.values())


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
