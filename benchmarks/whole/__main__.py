"""Process of one benchmark of the whole stack: starts the stack, runs the named benchmark, and prints the figures as JSON."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import django

from benchmarks.figures import Figure
from portal.stack.state_paths import StatePaths


def main() -> int:
    """Run one benchmark. Arguments: its name, and its options as JSON."""
    name, options = sys.argv[1], json.loads(sys.argv[2])
    django.setup()
    from benchmarks.whole import commit, slow, soak

    benchmarks: dict[str, Callable[..., list[Figure]]] = {"commit": commit.measure, "slow": slow.measure, "soak": soak.measure}
    places = StatePaths.from_directory(Path(os.environ["NETZWART_VAR"]))
    try:
        figures = benchmarks[name](places, **options)
    finally:
        shutil.rmtree(places.sockets, ignore_errors=True)
    print(json.dumps([asdict(figure) for figure in figures]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
