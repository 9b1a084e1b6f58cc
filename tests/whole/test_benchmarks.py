"""Benchmarks run as on a fresh checkout: without a server, a key or other preparation."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks.__main__ import ON_A_SERVER
from portal import programs

pytestmark = [pytest.mark.kernel, pytest.mark.long, pytest.mark.deep]
SMALL = ("--members", "300", "--mails", "3", "--tickets", "30", "--days", "1", "--changes", "60", "--gateways", "4", "--seconds", "5")
QUICK = {"collect", "import", "link", "mail"}
DEEP = ON_A_SERVER | {"commit", "compile", "link"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run only quick benchmarks without --deep, because the others take a minute each."""
    metafunc.parametrize("name", sorted(DEEP if metafunc.config.getoption("--deep") else QUICK))


def test_a_benchmark_brings_the_server_that_it_needs(name: str) -> None:
    environment = {each: value for each, value in os.environ.items() if not each.startswith(("NETZWART_", "DJANGO_"))}
    command = [sys.executable, "-m", "benchmarks", name, *SMALL, "--json"]
    done = subprocess.run(command, env=environment, cwd=programs.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    answer = json.loads(done.stdout)
    assert answer["figures"]
    assert {"noise", "disturbed_by"} <= set(answer)
    assert (done.returncode == 2) == any(figure["met"] is False for figure in answer["figures"])
    times = [each for each in answer["figures"] if each["unit"] in ("s", "ms") and each["goal"]]
    assert [each["name"] for each in times if each["ratio"] is None] == [], "a time with a goal has a ratio beside it"
