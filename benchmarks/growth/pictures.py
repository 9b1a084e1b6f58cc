"""The pictures of docs/benchmarks.md, and the figures that they were drawn from."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.figures import describe_machine
from benchmarks.growth.line_chart import GrowthChart, GrowthLine, draw

ROOT: Final = Path(__file__).resolve().parent.parent.parent
DRAWN: Final = ROOT / "docs" / "pictures"
RECORD: Final = Path(__file__).with_name("measured.json")

type Grown = Mapping[int, Mapping[str, float]]  # measurements by name, by the number of members


def record(found: Grown) -> None:
    """Write the figures down, with the day and the machine, and draw them."""
    sizes = {str(size): dict(each) for size, each in found.items()}
    whole = {"day": datetime.now(UTC).date().isoformat(), "machine": describe_machine(), "sizes": sizes}
    RECORD.write_text(json.dumps(whole, indent=1) + "\n")
    for name, chart in build_charts(found).items():
        (DRAWN / name).write_text(draw(chart))


def read_record() -> Grown:
    """Return the figures that the pictures show."""
    sizes = json.loads(RECORD.read_text())["sizes"]
    return {int(size): each for size, each in sizes.items()}


def build_charts(found: Grown) -> dict[str, GrowthChart]:
    """Return the charts, by the names of their files."""

    def line(name: str, of: str) -> GrowthLine:
        return GrowthLine(name, [(size, each[of]) for size, each in sorted(found.items()) if of in each])

    return {
        "growth-packets.svg": GrowthChart(
            "What a packet costs with everything on",
            "CPU time, in multiples of one masquerade rule",
            (line("new connection", "packet_new_ratio"), line("download", "packet_down_ratio"), line("upload", "packet_up_ratio")),
            proportional=False,
        ),
        "growth-loading.svg": GrowthChart(
            "Compiling and loading a whole ruleset",
            "seconds",
            (
                line("compile", "compile_seconds"),
                line("load and verify", "load_seconds"),
                line("bare nft -f", "bare_nft_seconds"),
                line("read counters", "counters_seconds"),
            ),
        ),
        "growth-memory.svg": GrowthChart(
            "Memory for the whole ruleset",
            "MiB",
            (line("compiler", "compile_mib"), line("agent while loading", "agent_mib"), line("kernel", "kernel_mib")),
        ),
        "growth-change.svg": GrowthChart(
            "One member's change",
            "milliseconds",
            (line("compiled", "change_compiled_ms"), line("element in the kernel", "element_added_ms")),
        ),
    }
