"""A gateway with one competitor, and connections through it; packets belong to these connections or open new ones."""

import time
from collections.abc import Sequence
from contextlib import closing
from random import Random

from benchmarks.networks import PRIVATE
from benchmarks.packets.cables import INTERNET_MAC, LAN_MAC, MEMBERS_MAC, WAN_MAC, Cables
from benchmarks.packets.rulesets import MASQUERADE
from benchmarks.packets.sender import BURST, Datagram, FrameListener, Sender, Train, build_frame
from firewall.diff import diff
from firewall.ruleset import EMPTY, Ruleset
from gateway.kernel import KernelTable

ACTIVE = 6_000
FRAMES = 12 * BURST  # per turn
WARM = 4  # bursts that do not count: the caches still hold the other competitor's elements
FORGET = 4  # turns after which new connections are deleted, before the kernel's table is full
FOREIGN = 44 << 24


class Racer:
    """A gateway with one competitor, and open connections through it."""

    def __init__(self, ruleset: Ruleset | None, members: int) -> None:
        self._cables = Cables()
        self._random, self._fresh = Random(1), 0
        self._members = self._random.sample(range(members * 99 // 100), min(ACTIVE, members * 99 // 100))  # the last ones are blocked
        self._kernel: KernelTable = self._cables.gateway.do(KernelTable)
        if ruleset is None:
            self._cables.gateway.run("nft", MASQUERADE)
        else:
            self._cables.gateway.do(self._kernel.commit, diff(EMPTY, ruleset), int(time.time()))
            self._cables.gateway.do(self._kernel.shape, ruleset.shaper)
        self._inside: Sender = self._cables.members.do(Sender, "m0")
        self._outside: Sender = self._cables.internet.do(Sender, "i0")
        self._open()

    def _open(self) -> None:
        """Open connections and send an answer for each."""
        self._cables.gateway.do(lambda: self._kernel.cut(self._kernel.list_flows()))
        first = [Datagram(PRIVATE + at, 1024 + at % 60_000, FOREIGN + at * 251, 53) for at in self._members]
        with closing(self._cables.internet.do(FrameListener, "i0")) as listener:
            self._send(self._inside, _build_up_train(first))
            answers = [each.build_answer() for each in listener.iter_datagrams()]
        self._check_arrivals(len(first), len(answers), "to begin with")
        self._send(self._outside, _build_down_train(answers))
        sequence = [self._random.randrange(len(first)) for _ in range(FRAMES)]
        self._up, self._down = _build_up_train([first[at] for at in sequence]), _build_down_train([answers[at] for at in sequence])

    def run_turn(self, way: str) -> Sequence[float]:
        """Return the nanoseconds per packet of each burst. Raises SystemExit if packets do not come out at the other end."""
        if way == "down":
            before = self._cables.count_inside()
            found = self._send(self._outside, self._down)
            self._check_arrivals(FRAMES, self._cables.count_inside() - before, way)
        else:
            train = self._up if way == "up" else self._build_new_train()
            before = self._cables.count_outside()
            found = self._send(self._inside, train)
            self._check_arrivals(FRAMES, self._cables.count_outside() - before, way)
        return found[WARM:]

    def _check_arrivals(self, sent: int, came: int, way: str) -> None:
        if came != sent:
            raise SystemExit(f"{came} of {sent} packets came through ({way}): what was measured is not their way")

    def _send(self, sender: Sender, train: Train) -> list[float]:
        space = self._cables.members if sender is self._inside else self._cables.internet
        return space.do(lambda: list(sender.iter_bursts(train)))

    def _build_new_train(self) -> Train:
        """Build packets that open new connections. Deletes the earlier ones before the table is full."""
        if self._fresh and self._fresh % (FORGET * FRAMES) == 0:
            self._open()
        numbers = range(self._fresh, self._fresh + FRAMES)
        self._fresh += FRAMES
        members = self._random.choices(self._members, k=FRAMES)
        pairs = zip(members, numbers, strict=True)
        return _build_up_train([Datagram(PRIVATE + at, 1024 + number % 60_000, FOREIGN + (1 << 22) + number, 443) for at, number in pairs])

    def close(self) -> None:
        """End the namespaces with everything in them."""
        self._inside.close()
        self._outside.close()
        self._cables.gateway.do(self._kernel.close)
        self._cables.close()


def _build_up_train(datagrams: list[Datagram]) -> Train:
    return Train([build_frame(each, LAN_MAC, MEMBERS_MAC) for each in datagrams])


def _build_down_train(datagrams: list[Datagram]) -> Train:
    return Train([build_frame(each, WAN_MAC, INTERNET_MAC) for each in datagrams])
