"""Queues of an uplink on a kernel that has CAKE: Debian's own, in an emulated machine. No lab is needed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.fair.queues_of_kernel import SHAPERS
from benchmarks.packets.emulated_machine import run_module
from benchmarks.packets.instructions import IMAGES, SUITE
from firewall.shaper import build_shaper_settings
from lab.machines.image import ensure_image, list_missing_programs

pytestmark = [pytest.mark.kernel, pytest.mark.machines]

PATIENCE = 600  # seconds; half a minute on an idle machine


@dataclass(frozen=True)
class QueueStep:
    """What the agent read of the kernel after a step, and what tc and ip showed."""

    read: dict[str, str]
    shown: str


@pytest.fixture(scope="module", name="lab")
def no_lab(request: pytest.FixtureRequest) -> None:
    """Take the place of the session's lab, which these tests do not need."""
    if not request.config.getoption("--machines"):
        pytest.skip("needs a machine that boots: script/machines test")
    if found := list_missing_programs():
        pytest.skip("; ".join(found))


@pytest.fixture(scope="module")
def steps(lab: None) -> dict[str, QueueStep]:
    """Run all steps in one machine."""
    image = ensure_image(SUITE, Path(IMAGES), prepared=True)
    printed = run_module(image, "benchmarks.fair.queues_of_kernel", patience=PATIENCE)
    return {step: QueueStep(read, shown) for step, read, shown in _iter_steps(printed)}


def _iter_steps(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    for line in lines:
        found = json.loads(line)
        yield found["step"], found["read"], found["shown"]


@pytest.mark.parametrize("number", range(len(SHAPERS)))
def test_the_kernel_has_what_was_set(steps: dict[str, QueueStep], number: int) -> None:
    wanted = build_shaper_settings(SHAPERS[number])
    assert wanted.items() <= steps[str(number)].read.items()


def test_tc_shows_both_directions(steps: dict[str, QueueStep]) -> None:
    shown = steps["0"].shown
    up = "qdisc cake 4e57: dev wan0 root refcnt 2 bandwidth 20Mbit besteffort dual-srchost nat nowash no-ack-filter split-gso rtt 100ms raw"
    down = "qdisc cake 4e57: dev netzwart-down root refcnt 2 bandwidth 50Mbit besteffort dual-dsthost nat nowash ingress no-ack-filter"
    assert up in shown and down in shown and "mirred (Egress Redirect to device netzwart-down) stolen" in shown
    assert "atm overhead 40" in steps["1"].shown and "noatm overhead 38 mpu 84" in steps["2"].shown


def test_a_direction_that_ends_leaves_nothing_of_itself(steps: dict[str, QueueStep]) -> None:
    assert "netzwart-down" not in steps["1"].shown and "clsact" not in steps["1"].shown
    assert "dev wan0 root" not in steps["2"].shown.replace("qdisc noqueue 0: dev wan0 root", "")


def test_a_queue_that_was_changed_by_hand_is_read_and_repaired(steps: dict[str, QueueStep]) -> None:
    assert steps["by hand"].read["queue of netzwart-down"] == "fq_codel"
    assert build_shaper_settings(SHAPERS[-1]).items() <= steps["repaired"].read.items()


def test_what_is_not_ours_stays(steps: dict[str, QueueStep]) -> None:
    shown = steps["beside others"].shown
    assert "pref 7 bpf" in shown and "pref 20055" not in shown and "netzwart-down" not in shown


def test_nothing_is_left_when_the_queues_go(steps: dict[str, QueueStep]) -> None:
    shown = steps["taken away"].shown
    assert not any(word in shown for word in ("cake", "clsact", "netzwart", "20055"))
