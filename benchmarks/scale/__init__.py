"""scale: how far one installation goes: a million members compiled from the database, and two hundred gateways in a hundred groups.

Needs a database server (NETZWART_DATABASE_URL), where it creates databases of its own and drops them again. The gateways are real
agents behind real sockets, with their rulesets in memory; the portal's programs and a Redis of their own run as in production.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.baselines import PYTHON
from benchmarks.changes import build_database_url, fill, run_sql, use_own_database
from benchmarks.figures import Figure
from portal.stack import redis
from portal.stack.state_paths import StatePaths

MILLION, GROUPS = 1_000_000, 100  # at which figures have goals


def run(members: int, gateways: int, seconds: float, seed: int) -> Iterator[Figure]:
    """Measure a network of this many members in one group, and this many gateways in groups of two, for this long each."""
    yield from _iter_member_figures(members)
    yield from _iter_group_figures(gateways, seconds, seed)


def _iter_member_figures(members: int) -> Iterator[Figure]:
    with use_own_database():
        fill(members)
        run_sql("ANALYZE")
        with TemporaryDirectory(prefix="nw-bench-") as directory:
            found = _run_part("million", directory, members=members)
    name = f"members_{format_count(members)}"
    python = found["python_s"]
    yield Figure(f"{name}_compile_s", found["compile_s"], "s", "<= 30" if members >= MILLION else None, python, PYTHON)
    yield Figure(f"{name}_read_s", found["read_s"], "s", None, python, PYTHON)
    yield Figure(f"{name}_pure_compile_s", found["pure_compile_s"], "s", None, python, PYTHON)
    yield Figure(f"{name}_compile_rss_mib", found["compile_rss_mib"], "MiB")
    yield Figure(f"{name}_change_ms", found["change_ms"], "ms", None, python * 1000, PYTHON)
    yield Figure(f"{name}_change_p99_ms", found["change_p99_ms"], "ms", None, python * 1000, PYTHON)
    yield Figure(f"{name}_elements", found["elements"], "")


def _iter_group_figures(gateways: int, seconds: float, seed: int) -> Iterator[Figure]:
    with use_own_database(), TemporaryDirectory(prefix="nw-bench-") as directory:
        found = _run_part("groups", directory, gateways=gateways, seconds=seconds, seed=seed)
    groups, python = gateways // 2, found["python_s"]
    large = groups >= GROUPS
    yield Figure("first_rollouts_s", found["first_rollouts_s"], "s", about=f"{groups} groups")
    yield Figure("changes", found["changes"], "")
    yield Figure(f"groups_{groups}_change_p50_s", found["change_p50_s"], "s", None, python, PYTHON)
    yield Figure(f"groups_{groups}_change_p99_s", found["change_p99_s"], "s", "<= 2" if large else None, python, PYTHON)
    yield Figure(f"groups_{groups}_change_max_s", found["change_max_s"], "s", None, python, PYTHON)
    shares = {name: value for name, value in found.items() if name.startswith("cpu ")}
    of_changes = (found["busy_cores"] - sum(shares.values())) * found["busy_s"] / found["changes"]
    yield Figure("change_cpu_ms", of_changes * 1000, "ms", None, python * 1000, PYTHON, about="of all programs and servers, beyond idle")
    yield Figure("full_tick_cpu_share", sum(shares.values()), "cores", "<= 0.2" if large else None, about=f"{gateways} idle gateways")
    for name, value in shares.items():
        yield Figure("cpu_share", value, "cores", about=name.removeprefix("cpu "))


def format_count(number: int) -> str:
    """Return a short name of a number, as in 300, 10k, 1m."""
    for unit, size in (("m", 1_000_000), ("k", 1_000)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def _run_part(part: str, directory: str, **options: Any) -> dict[str, float]:
    """Run a part in a process of its own, on the database of this process. Returns its measurements."""
    places = StatePaths.from_directory(Path(directory))
    places.sockets.mkdir(mode=0o700)
    values = {
        "NETZWART_VAR": directory,
        "NETZWART_DATABASE_URL": build_database_url(),
        "NETZWART_REDIS_URL": redis.build_url(places),
        "NETZWART_GATEWAY_SOCKETS": str(places.gateway_sockets),
        "NETZWART_LAB_NAME": "",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    command = [sys.executable, "-m", "benchmarks.scale", part, json.dumps(options)]
    try:
        done = subprocess.run(command, env={**os.environ, **values}, stdout=subprocess.PIPE, text=True, check=False)
    finally:
        shutil.rmtree(places.sockets, ignore_errors=True)
    if done.returncode:
        raise SystemExit(f"the part {part} of the benchmark failed")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
