"""Standing probes: rounds of handshakes and echoes, made all the time while somebody asks for them, and kept for some minutes."""

import asyncio
import secrets
from collections import deque
from dataclasses import dataclass, replace
from time import monotonic

from firewall.probe_messages import ProbeRound, ProbesRead, ReadProbes, Target, TargetSeen
from gateway.probes.echo import echo
from gateway.probes.handshake import connect
from gateway.probes.inward import InwardProbes

KEPT = 150  # rounds: five minutes of two seconds each, in which the portal may be away
IDLE = 300.0  # seconds without a request after which no more probes are sent


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is probed, and how often. Seconds."""

    targets: tuple[Target, ...]
    every: float
    limit: float
    responder_port: int

    def list_responders(self) -> tuple[Target, ...]:
        """Return where each target takes requests to connect back, in their order; empty if none does."""
        return tuple(Target(each.address, self.responder_port) for each in self.targets) if self.responder_port else ()


class StandingProbes:
    """The rounds of this prober. All methods are called in its event loop."""

    def __init__(self) -> None:
        self._plan: _Plan | None = None
        self._series, self._number = "", 0
        self._rounds: deque[tuple[float, int, tuple[TargetSeen, ...]]] = deque(maxlen=KEPT)
        self._asked = monotonic()
        self._probing: asyncio.Task[None] | None = None

    def read(self, request: ReadProbes) -> ProbesRead:
        """Return the rounds that the asker does not have, and see to it that there are more."""
        self._asked = now = monotonic()
        self._follow(_Plan(request.targets, request.every_ms / 1000, request.limit_ms / 1000, request.responder_port))
        after = request.after if request.series == self._series else 0
        later = [each for each in self._rounds if each[1] > after]
        return ProbesRead(self._series, tuple(ProbeRound(number, max(round((now - at) * 1000), 0), seen) for at, number, seen in later))

    def _follow(self, plan: _Plan) -> None:
        if self._probing and not self._probing.done() and plan == self._plan:
            return
        if self._probing and not self._probing.cancel():
            self._rounds.clear()  # what was seen before nobody asked any more
        if plan.targets != (self._plan and self._plan.targets):
            self._series, self._number = secrets.token_hex(8), 0
            self._rounds.clear()
        self._plan = plan
        self._probing = asyncio.get_running_loop().create_task(self._probe(plan))

    async def _probe(self, plan: _Plan) -> None:
        """Make rounds until nobody asks for them any more."""
        responders = plan.list_responders()
        inward = InwardProbes(responders, plan.every, plan.limit)
        beside = asyncio.get_running_loop().create_task(inward.run())
        try:
            while monotonic() - self._asked < IDLE:
                begun = monotonic()
                seen = await asyncio.gather(*(look_at(target, plan.limit) for target in plan.targets))
                if responders:
                    seen = [replace(each, inward=inward.take(responder)) for each, responder in zip(seen, responders, strict=True)]
                self._number += 1
                self._rounds.append((begun, self._number, tuple(seen)))
                await asyncio.sleep(max(begun + plan.every - monotonic(), 0))
        finally:
            beside.cancel()
            await asyncio.wait([beside])

    async def stop(self) -> None:
        """End the rounds."""
        if self._probing:
            self._probing.cancel()
            await asyncio.wait([self._probing])


async def look_at(target: Target, limit: float) -> TargetSeen:
    """Return what one round sees of a target, after at most `limit` seconds."""
    connected, echoed = await asyncio.gather(connect(target, limit), echo(target.address, limit))
    return TargetSeen(connected, echoed.small, echoed.full_size, echoed.mtu)
