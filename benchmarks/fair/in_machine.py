"""Measures shares and pings on a slow line, in the emulated machine: `python3 -m benchmarks.fair.in_machine`.

Member 0 is a hog with 32 connections, members 1 to 7 have one each, and member 8 sends 50 small datagrams a second that come back.
Prints a line of JSON for each scene (emulated_machine.MARK).
"""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from statistics import quantiles

from benchmarks.fair.line import DELAY, MEMBERS, QUEUES, TARGETS, SlowLine
from benchmarks.fair.streams import GreedyStreams, open_echo
from benchmarks.packets.emulated_machine import MARK
from firewall.policy import Shaping

HOG, PINGER = 0, MEMBERS - 1
FLOWS = 32
FLOWS_BY_MEMBER = (HOG,) * FLOWS + tuple(range(1, PINGER))
SETTLE, MEASURE = 8.0, 6.0  # seconds; where the provider's buffer was full at first, it takes some until it is empty
PING_EVERY = 0.02  # seconds
LIMIT = 625_000  # octets per second: the 5 Mbit/s to which fair share limits the heaviest members by default


@dataclass(frozen=True)
class Scene:
    """A gateway, and the direction in which its members fill the line."""

    name: str
    version: int
    way: str


SCENES = (
    *(Scene(name, 4, way) for way in ("down", "up") for name in ("nothing", "limit", "queues")),
    *(Scene("queues", 6, way) for way in ("down", "up")),
)


def measure(line: SlowLine, scene: Scene) -> dict[str, object]:
    """Return the octets per second of each member that fills the line, and pings in milliseconds."""
    shaping: Shaping | None = QUEUES if scene.name == "queues" else None
    with line.run_gateway(shaping, {HOG: LIMIT} if scene.name == "limit" else {}), open_echo(line, scene.version) as echo:
        with closing(GreedyStreams(line, FLOWS_BY_MEMBER, scene.version, up=scene.way == "up")) as streams:
            time.sleep(SETTLE)
            before, start = streams.count_by_member(), time.monotonic()
            pings = list(_iter_pings(echo, MEASURE))
            seconds, after = time.monotonic() - start, streams.count_by_member()
        rates = [(now - then) / seconds for now, then in zip(after, before, strict=True)]
        return asdict(scene) | _describe_pings(pings) | {"rates": rates}


def _describe_pings(pings: list[float]) -> dict[str, float]:
    cuts = quantiles(pings, n=20)
    if cuts[9] < DELAY * 0.9:
        raise SystemExit(f"half of the pings take less than {cuts[9]:.3f} ms; the line alone delays them by {DELAY}")
    return {"p50": cuts[9], "p95": cuts[18], "pings": len(pings)}


def _iter_pings(near: socket.socket, seconds: float) -> Iterator[float]:
    """Send datagrams for this long; yield the milliseconds of each that comes back within a second after that."""
    start = due = time.monotonic()
    near.connect((TARGETS[6 if near.family == socket.AF_INET6 else 4], 7))
    while (now := time.monotonic()) < start + seconds + 1:
        if due <= now < start + seconds:
            near.send(str(time.monotonic_ns()).encode())
            due += PING_EVERY
        near.settimeout(max(0.001, min(due - time.monotonic(), PING_EVERY)))
        try:
            yield (time.monotonic_ns() - int(near.recv(64))) / 1e6
        except TimeoutError:
            continue


def main() -> None:
    """Measure, and print."""
    with closing(SlowLine()) as line:
        for scene in SCENES:
            print(MARK + json.dumps(measure(line, scene)), flush=True)


if __name__ == "__main__":
    main()
