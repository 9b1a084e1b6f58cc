"""Benchmarks of the whole product on this machine, with faults: `script/bench commit`, `slow` and `soak`.

Comes in: the options of the command line. Goes out: figures, from a process of its own in which everything is started and ended.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from portal.stack.environment import build_variables
from portal.stack.state_paths import StatePaths


def run(name: str, **options: Any) -> Iterator[Figure]:
    """Yield the figures of a benchmark that needs the whole stack. Its state lies in a directory of its own, which is removed
    afterwards.
    """
    if os.geteuid():
        raise SystemExit(f"script/bench {name} needs root: for network namespaces, nftables and sshd")
    with tempfile.TemporaryDirectory(prefix="nw-bench-") as directory:
        values = {
            **os.environ,
            **build_variables(StatePaths.from_directory(Path(directory))),
            "NETZWART_MOMENTS": "1" if options.get("explain") else "",
        }
        values["DJANGO_SETTINGS_MODULE"] = "portal.settings"
        command = [sys.executable, "-m", "benchmarks.whole", name, json.dumps(options)]
        done = subprocess.run(command, env=values, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    *_logged, figures = done.stdout.splitlines()
    for figure in json.loads(figures):
        yield Figure(**figure)
