"""`python -m lab race` through a gateway with a compiled ruleset."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firewall.policy import NatMappingSpec, SharingMode
from firewall.render import render
from lab.lab import Lab
from lab.program import ROOT
from lab.register import LabRegisterEntry
from tests.whole.system import INTERNET
from tests.whole.test_snat_race import BLOCKS, MEMBERS, PUBLIC, compile_with

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

PORTS, AT_ONCE = 64, 100
NARROW = (NatMappingSpec(MEMBERS["m1"], PUBLIC, SharingMode.BLOCKS, 40_000, 40_000 + PORTS - 1),)
COUNT_NEW = """
table ip witness {
  counter new {}
  chain forward { type filter hook forward priority filter - 10; ct state new tcp flags syn counter name new; }
}
"""
DROP_ANSWERS = "table ip silence { chain answers { type filter hook prerouting priority -400; iifname wan0 tcp sport 80 drop; }; }"
"""Before connection tracking, which then keeps each attempt as one that waits for its answer, with its port."""


def build_command(state: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "lab", "--state", str(state), *arguments]


def run(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(build_command(state, *arguments), capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("state")
    assert run(directory, "up").returncode == 0
    yield directory
    run(directory, "down")


def load(state: Path, mappings: tuple[NatMappingSpec, ...], more: str = "") -> Lab:
    """Load the ruleset into nat-1, whose connections are forgotten, and return the lab."""
    lab = LabRegisterEntry(state, "demo").find()
    assert lab
    lab.run("nat-1", ["nft", "-f", "-"], text=f"flush ruleset\n{render(compile_with(mappings), now=1)}\n{more}")
    lab.run("nat-1", ["conntrack", "-F"])
    return lab


def parse_totals(output: str) -> list[tuple[int, int]]:
    """Return errors and total of each line."""
    return [(int(errors), int(total)) for errors, total in re.findall(r" (\d+)/(\d+) ", output)]


def test_a_run_without_a_loss_adds_up_and_ends_well(state: Path) -> None:
    lab = load(state, BLOCKS, COUNT_NEW)
    done = run(state, "race", "m1", "m2", INTERNET, "80", "--seconds", "1", "--every", "0.5", "--rate", "100")
    assert (done.returncode, done.stderr) == (0, "")
    heading, *intervals, summary = done.stdout.splitlines()
    assert "insert_failed" in heading
    assert len(intervals) >= 2
    [(errors, total)] = parse_totals(summary)
    assert errors == 0
    assert total == sum(each for _, each in parse_totals("\n".join(intervals)))
    assert 2 <= total <= 2 * (100 + 1)
    counted = re.search(r"packets (\d+)", lab.run("nat-1", ["nft", "list", "counter", "ip", "witness", "new"]).stdout)
    assert counted
    assert int(counted[1]) >= total  # more if a machine was so busy that a SYN was sent twice


def test_connections_that_the_gateway_cannot_insert_are_shown_and_fail_the_run(state: Path) -> None:
    load(state, NARROW, DROP_ANSWERS)
    options = ["--gateway", "nat-1", "--seconds", "0.1", "--every", "60", "--parallel", str(AT_ONCE), "--timeout", "0.5"]
    done = run(state, "race", "m1", INTERNET, "80", *options)
    assert done.returncode == 1
    *_, summary, errors = done.stdout.splitlines()
    [(failed, total)] = parse_totals(summary)
    assert failed == total >= AT_ONCE
    assert int(summary.split()[-1]) >= AT_ONCE - PORTS
    assert errors == f"Errors: {failed} × Connection timed out"


def test_an_interrupt_ends_the_run_with_its_summary(state: Path) -> None:
    load(state, BLOCKS)
    command = build_command(state, "race", "m1", "m2", INTERNET, "80", "--seconds", "3600", "--every", "0.2", "--rate", "50")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        assert "median ms" in process.stdout.readline()
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        *_, summary = process.stdout.read().splitlines()
    assert parse_totals(first)
    assert summary.split()[:2] == ["in", "all"]
    assert process.returncode == 0


def test_a_second_interrupt_does_not_wait_for_the_last_attempts(state: Path) -> None:
    load(state, BLOCKS, DROP_ANSWERS)
    command = build_command(state, "race", "m1", INTERNET, "80", "--seconds", "3600", "--every", "0.2", "--timeout", "3600")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        assert "median ms" in process.stdout.readline()
        assert parse_totals(process.stdout.readline()) == [(0, 0)]  # after the first interval, attempts have begun
        process.send_signal(signal.SIGINT)
        while process.stdout.readline().split()[1] != "-":  # the rate, when no more are opened
            continue
        process.send_signal(signal.SIGINT)
        *_, summary = process.stdout.read().splitlines()
    assert parse_totals(summary) == [(0, 0)]
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["m1", "m9", INTERNET, "80"], "unknown node m9; known: m1, m2"),
        (["m1", "m1", INTERNET, "80"], "m1 is named 2 times; to open more connections from a node, raise --parallel"),
        (["m1", INTERNET, "80", "--gateway", "m2"], "m2 is not a gateway of this lab; its gateways: nat-1, nat-2"),
    ],
)
def test_a_wrong_name_is_told_with_the_right_ones(state: Path, arguments: list[str], sentence: str) -> None:
    done = run(state, "race", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
