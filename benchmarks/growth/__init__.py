"""growth: what grows with the network, from 100 members to a million: compiling, loading, memory, a change, a packet; --draw draws it.

Each size has everything that a group can switch on, and as many bans as members. Compiler and agent are measured in processes of
their own, which have seen no other size. Needs root; a million takes minutes, and ten gigabytes.
"""

import os
from collections.abc import Iterator, Mapping

from benchmarks import compiling
from benchmarks.figures import Figure
from benchmarks.growth import in_kernel, pictures
from benchmarks.growth.on_the_way import measure_ratios

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
LARGEST = SIZES[-1]
GOALS = {"compile_seconds": "<= 10", "compile_mib": "<= 2048", "change_compiled_ms": "<= 5", "element_added_ms": "<= 1"}
"""At the largest size."""
UNITS = {"seconds": "s", "mib": "MiB", "ms": "ms", "ratio": ""}

type Measured = Mapping[str, float]


def run(largest: int, *, draw: bool = False) -> Iterator[Figure]:
    """Yield the figures of each size up to the largest. draw: write them down afterwards, and draw the pictures of the documentation."""
    if os.geteuid():
        raise SystemExit("script/bench growth needs root: for network namespaces and nftables")
    found: dict[int, Measured] = {}
    for members in (size for size in SIZES if size <= largest):
        found[members] = measure(members)
        yield from iter_figures(members, found[members])
    if draw:
        pictures.record(found)


def measure(members: int) -> Measured:
    """Measure one size."""
    compiled = compiling.measure_in_process(members)
    return {
        "compile_seconds": compiled["seconds"],
        "compile_mib": compiled["peak_mib"],
        "change_compiled_ms": compiled["delta_one_member_ms"],
        **in_kernel.measure_in_process(members),
        **measure_ratios(members),
    }


def iter_figures(members: int, measured: Measured) -> Iterator[Figure]:
    """Yield the figures of one size."""
    for name, value in measured.items():
        unit = UNITS.get(name.rpartition("_")[2], "")
        yield Figure(f"{name}_of_{members}", value, unit, GOALS.get(name) if members == LARGEST else None)
