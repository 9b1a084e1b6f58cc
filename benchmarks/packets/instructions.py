"""Counts the instructions of a packet in an emulated Debian machine, and compares them with those that were recorded with the chains.

Neither another program nor a slower machine changes a count, so it shows what a change of the chains costs. It leaves out misses of the
processor's caches, which large networks add: the ratios of time (`benchmarks.packets`) have them.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure
from benchmarks.packets.costs import GOALS, HEADING, WAYS
from benchmarks.packets.emulated_machine import run_module
from benchmarks.packets.in_machine import BANS, WITHOUT_CHAIN, WITHOUT_FEATURE
from benchmarks.packets.rulesets import FULL, PLAIN, WITHOUT, build_full_policy, invent_feed
from firewall.compile import compile_policy
from firewall.render import render_chain, render_set
from lab.machines.image import ensure_image, list_missing_programs

ROOT: Final = Path(__file__).resolve().parent.parent.parent
IMAGES: Final = ROOT / "var" / "machines" / "images"
RECORD: Final = Path(__file__).with_name("instructions.json")
SUITE: Final = "trixie"
MEMBERS: Final = 2_000  # instructions do not depend on it; an emulated machine takes minutes to load 100,000
ROUNDS: Final = 2
PATIENCE: Final = 3_600.0  # seconds; half a minute on an idle machine
MOST_CHANGE: Final = "<= 1.01"
"""Of the recorded counts. Two runs differ by less than half of that."""
NEEDLESS: Final = ("raw_prerouting", "dstnat", "mangle_forward", "forward", "fail_closed")
"""Base chains without which packets still come through, changed as they are by NAT."""

type Counts = Mapping[str, Mapping[str, float]]  # instructions a packet, by competitor and direction


@dataclass(frozen=True, slots=True)
class RecordedCounts:
    """What a packet cost when the chains were as `rules` says. rules: `compute_rules_digest`; instructions: by direction."""

    rules: str
    masquerade: Mapping[str, float]
    full: Mapping[str, float]


def compute_rules_digest() -> str:
    """Return a digest of all chains and declarations of sets of the ruleset with everything on, however many members there are."""
    ruleset = compile_policy(build_full_policy(MEMBERS, invent_feed(BANS)))
    lines = (*map(render_set, ruleset.sets.values()), *map(render_chain, ruleset.chains.values()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_record() -> RecordedCounts:
    """Return what was recorded last."""
    return RecordedCounts(**json.loads(RECORD.read_text()))


def run(members: int, *, explain: bool = False, record: bool = False) -> Iterator[Figure]:
    """Yield counts, their ratios to those of masquerading, and to the recorded ones. record: write them down first."""
    if obstacles := list_missing_programs():
        raise SystemExit("\n".join(("script/bench packets --count boots an emulated machine:", *obstacles)))
    if os.geteuid():
        raise SystemExit("script/bench packets --count needs root: it makes an image of Debian's packages")
    left_out = (*(WITHOUT_FEATURE + each for each in WITHOUT), *(WITHOUT_CHAIN + each for each in NEEDLESS)) if explain else ()
    counts = count((PLAIN, FULL, *left_out), members)
    if explain:
        print("\n".join((HEADING, *iter_explanation(counts))), file=sys.stderr, flush=True)
    if record:
        write_record(counts)
    yield from iter_figures(counts, read_record())


def count(names: Sequence[str], members: int) -> Counts:
    """Return the instructions per packet of these competitors. The first call makes an image, which takes minutes."""
    image = ensure_image(SUITE, IMAGES, prepared=True)
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for line in run_module(image, "benchmarks.packets.in_machine", str(members), str(ROUNDS), *names, patience=PATIENCE):
        answer = json.loads(line)
        found[answer["name"]][answer["way"]] = answer["instructions"]
    return found


def write_record(counts: Counts) -> None:
    """Write down what a packet costs with the chains as they are."""
    whole = {way: {name: round(counts[name][way]) for name in (PLAIN, FULL)} for way in WAYS}
    record = {name: {way: whole[way][name] for way in WAYS} for name in (PLAIN, FULL)}
    RECORD.write_text(json.dumps({"rules": compute_rules_digest(), **record}, indent=1) + "\n")


def iter_figures(counts: Counts, recorded: RecordedCounts) -> Iterator[Figure]:
    """Yield for each direction the counts, the ratio, and the change since the record."""
    for way in WAYS:
        full, plain = counts[FULL][way], counts[PLAIN][way]
        yield Figure(f"{way}_instructions", full, "")
        yield Figure(f"{way}_{PLAIN}_instructions", plain, "")
        yield Figure(f"{way}_instructions_ratio", full / plain, "", GOALS[way])
        yield Figure(f"{way}_to_recorded", full / recorded.full[way], "", MOST_CHANGE)


def iter_explanation(counts: Counts) -> Iterator[str]:
    """Yield a line under HEADING for each feature and each base chain: the instructions that a packet takes less without it."""
    for name, less in counts.items():
        if name not in (FULL, PLAIN):
            label = name.removeprefix(WITHOUT_CHAIN).removeprefix(WITHOUT_FEATURE)
            yield f"  {label:<16}" + "".join(f"{counts[FULL][way] - less[way]:>+8.0f}" for way in WAYS)
