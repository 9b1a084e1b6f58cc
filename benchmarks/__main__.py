"""script/bench: run one benchmark and print its figures. Exit 0 when every goal is met, 2 when one is missed."""

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from itertools import chain

from benchmarks import agent, changes, collecting, compiling, linking, mailing, packets, paging, serving, shaping, ticketing, whole
from benchmarks.figures import Figure, as_json, as_table

BENCHMARKS: dict[str, Callable[[Namespace], Iterable[Figure]]] = {
    "agent": lambda given: agent.run(given.members),
    "api": lambda given: serving.run(given.members),
    "change": lambda given: changes.run(given.members),
    "collect": lambda given: collecting.run(given.members, given.days),
    "compile": lambda given: compiling.run(given.members),
    "commit": lambda given: whole.run(
        "commit", members=given.members, bans=given.bans, explain=given.explain, singles=given.changes, seed=given.seed
    ),
    "link": lambda given: linking.run(given.members),
    "mail": lambda given: chain(mailing.run(given.mails), ticketing.run(given.tickets)),
    "packets": lambda given: packets.run(given.members, feed=given.feed, explain=given.explain),
    "pages": lambda given: paging.run(given.members),
    "shape": lambda _given: shaping.run(),
    "slow": lambda given: whole.run("slow", members=given.members, seed=given.seed),
    "soak": lambda given: whole.run("soak", members=given.members, minutes=given.minutes, seed=given.seed, faults=given.faults),
}
MEMBERS = 100_000
FEWER = {"slow": 10_000}  # which takes some minutes
SUMMARIES = {
    "agent": agent.__doc__,
    "api": serving.__doc__,
    "change": changes.__doc__,
    "collect": collecting.__doc__,
    "compile": compiling.__doc__,
    "commit": "commit: from a commit in the database to both gateways confirmed, with everything real; one by one and in a burst",
    "link": linking.__doc__,
    "mail": mailing.__doc__,
    "packets": packets.__doc__,
    "pages": paging.__doc__,
    "shape": shaping.__doc__,
    "slow": "slow: a deploy and all that belongs to it, with worker and agents held to a tenth of a core; nothing may fail or be false",
    "soak": "soak: random changes and random faults for some minutes, with everything real; nothing may be lost",
}


def summaries() -> str:
    """Each benchmark's name and what it measures."""
    return "\n".join(f"{name:10} {(words or '').splitlines()[0].partition(': ')[2]}" for name, words in SUMMARIES.items())


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        prog="script/bench", description=__doc__, epilog="Benchmarks:\n" + summaries(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=sorted(BENCHMARKS), help="which one")
    parser.add_argument("--members", type=int, help=f"size of the network (default: {MEMBERS}; slow: {FEWER['slow']})")
    parser.add_argument("--bans", action="store_true", help="commit: beside a feed of 120,000 bans")
    parser.add_argument("--changes", type=int, default=200, help="commit: how many single changes (default: %(default)s)")
    parser.add_argument("--explain", action="store_true", help="commit, packets: say where the time goes, on standard error")
    parser.add_argument("--feed", default="", metavar="FILE", help="packets: bans from here, an address a line, not invented ones")
    parser.add_argument("--minutes", type=float, default=10, help="soak: how long (default: %(default)s)")
    parser.add_argument("--faults", nargs="+", default=[], metavar="NAME", help="soak: only these (benchmarks/whole/faults.py names them)")
    parser.add_argument("--days", type=int, default=730, help="collect: days of everybody's usage in the table (default: %(default)s)")
    parser.add_argument("--tickets", type=int, default=200_000, help="mail: how many there are (default: %(default)s)")
    parser.add_argument("--mails", type=int, default=500, help="mail: how many each way (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="commit, slow, soak: of the random numbers (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    given = parser.parse_args()
    if given.list:
        print(summaries())
        return 0
    if given.name is None:
        parser.error("name a benchmark; --list shows them")
    given.members = FEWER.get(given.name, MEMBERS) if given.members is None else given.members
    if not 0 < given.members <= 1_000_000:
        parser.error("--members: choose 1 to 1000000")
    figures = list(BENCHMARKS[given.name](given))
    print(as_json(given.name, figures) if given.json else as_table(given.name, figures))
    return 2 if any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
