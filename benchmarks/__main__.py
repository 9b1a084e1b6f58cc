"""script/bench: run one benchmark and print its figures. Exit 0 when every goal is met, 2 when one is missed."""

import argparse
import sys
from collections.abc import Callable, Iterable

from benchmarks import agent, changes, compiling, linking
from benchmarks.figures import Figure, as_json, as_table

BENCHMARKS: dict[str, Callable[[int], Iterable[Figure]]] = {
    "agent": agent.run,
    "change": changes.run,
    "compile": compiling.run,
    "link": linking.run,
}


def summaries() -> str:
    """Each benchmark's name and what it measures: the first line of its module."""
    modules = {name: sys.modules[function.__module__] for name, function in BENCHMARKS.items()}
    return "\n".join(f"{name:10} {(module.__doc__ or '').splitlines()[0].partition(': ')[2]}" for name, module in modules.items())


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        prog="script/bench", description=__doc__, epilog="Benchmarks:\n" + summaries(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=sorted(BENCHMARKS), help="which one")
    parser.add_argument("--members", type=int, default=100_000, help="size of the network (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    given = parser.parse_args()
    if given.list:
        print(summaries())
        return 0
    if given.name is None:
        parser.error("name a benchmark; --list shows them")
    if not 0 < given.members <= 1_000_000:
        parser.error("--members: choose 1 to 1000000")
    figures = list(BENCHMARKS[given.name](given.members))
    print(as_json(given.name, figures) if given.json else as_table(given.name, figures))
    return 2 if any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
