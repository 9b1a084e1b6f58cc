"""soak: the whole product under random changes and random faults."""

from benchmarks.figures import Figure
from portal.stack.places import Places


def measure(places: Places, *, members: int, minutes: float, seed: int) -> list[Figure]:
    raise SystemExit(f"{places} {members} {minutes} {seed}")
