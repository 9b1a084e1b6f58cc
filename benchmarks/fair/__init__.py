"""fair: fair queues on a slow line: pings and shares beside a hog, against no queue and against a limit, and the cost of a packet.

Everything runs in an emulated Debian machine, because it needs a kernel with CAKE. Its clock counts instructions, so the load of this
machine does not matter.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchmarks.fair.line import DELAY
from benchmarks.figures import Figure
from benchmarks.packets import instructions
from benchmarks.packets.costs import WAYS
from benchmarks.packets.emulated_machine import run_module
from benchmarks.packets.rulesets import FULL, WITH_QUEUES
from lab.machines.image import ensure_image, list_missing_programs

PATIENCE: Final = 3_600.0  # seconds; some minutes on an idle machine
TIMED: Final = ("-accel", "tcg,tb-size=128", "-cpu", "Nehalem,+rdrand", "-icount", "shift=0,sleep=off")
"""While the machine is idle its clock goes to the next timer at once: none fires late because this machine is busy."""
MOST_DELAY: Final = "<= 10"  # milliseconds more than on the idle line
LEAST_SHARE, MOST_SHARE = ">= 0.9", "<= 1.1"


def run() -> Iterator[Figure]:
    """Yield the figures of each scene, and the instructions per packet."""
    if obstacles := list_missing_programs():
        raise SystemExit("\n".join(("script/bench fair boots an emulated machine:", *obstacles)))
    if os.geteuid():
        raise SystemExit("script/bench fair needs root: it makes an image of Debian's packages")
    image = ensure_image(instructions.SUITE, instructions.IMAGES, prepared=True)
    scenes = [json.loads(line) for line in run_module(image, "benchmarks.fair.in_machine", patience=PATIENCE, accelerator=TIMED)]
    for scene in scenes:
        yield from _iter_scene_figures(scene)
    yield from _iter_cost_figures()


def _iter_scene_figures(scene: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield how much longer pings are than the idle line makes them, and the shares. Goals are for fair queues alone.

    An idle line delays by DELAY. It is not measured: the clock of an idle machine goes in steps, from timer to timer. The hog may get less
    than the others: what is dropped of its many connections is sent again, and has used the line.
    """
    name, judged = f"ipv{scene['version']}_{scene['way']}_{scene['name']}", scene["name"] == "queues"
    hog, *others = scene["rates"]
    fair = (hog + sum(others)) / len(scene["rates"])
    yield Figure(f"{name}_delay", scene["p95"] - DELAY, "ms", MOST_DELAY if judged else None)
    yield Figure(f"{name}_hog", hog / fair, "of a fair share", MOST_SHARE if judged else None)
    yield Figure(f"{name}_least", min(others) / fair, "of a fair share", LEAST_SHARE if judged else None)
    yield Figure(f"{name}_most", max(others) / fair, "of a fair share", MOST_SHARE if judged else None)
    yield Figure(f"{name}_total", (hog + sum(others)) * 8 / 1e6, "Mbit/s")


def _iter_cost_figures() -> Iterator[Figure]:
    counts = instructions.count((FULL, WITH_QUEUES), instructions.MEMBERS)
    for way in WAYS:
        yield Figure(f"{way}_instructions", counts[WITH_QUEUES][way], "")
        yield Figure(f"{way}_instructions_ratio", counts[WITH_QUEUES][way] / counts[FULL][way], "of no queues")
