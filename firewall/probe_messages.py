"""Messages about probe packets through a gateway: one probe at once, for a rollout, and standing ones, made all the time.

They are part of the messages of firewall/wire.py. The agent passes them on to its prober (gateway/prober.py), and adds what the
ruleset's counters saw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from firewall.policy import Address

ECHOES = 4
"""Small ICMP echo requests of a round, for each target."""
FULL_SIZE = 1500
"""Octets of a round's large echo request with its headers: the largest packet that members send (RFC 894)."""

Small: TypeAlias = Annotated[int, range(1 << 31)]
Large: TypeAlias = Annotated[int, range(1 << 63)]
Port: TypeAlias = Annotated[int, range(1 << 16)]


@dataclass(frozen=True, slots=True)
class Target:
    """A host that answers on this TCP port."""

    address: Address
    port: int


@dataclass(frozen=True, slots=True)
class Probe:
    """Connect from the gateway's probe to each target, all at once, for at most `limit_ms` milliseconds."""

    targets: tuple[Target, ...]
    limit_ms: int


@dataclass(frozen=True, slots=True)
class Connected:
    """Microseconds until the target accepted the connection; None, with the reason, if it did not."""

    microseconds: Small | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Probed:
    """Answer to Probe: a result for each target, in their order, and the packets that each named counter counted meanwhile."""

    answers: tuple[Connected, ...]
    counted: Mapping[str, Large]


@dataclass(frozen=True, slots=True)
class ReadProbes:
    """Ask what standing probes of these targets have seen.

    From now on the prober makes a round of them every `every_ms` milliseconds, and waits `limit_ms` for answers, until nobody has asked
    for some minutes. series, after: those of the last round that the asker has; "" and 0 if it has none. responder_port: at which each
    target takes requests to connect back, to the same port of the probe (gateway/responder.py); 0: none does.
    """

    targets: tuple[Target, ...]
    every_ms: int
    limit_ms: int
    series: str
    after: Large
    responder_port: Port = 0


@dataclass(frozen=True, slots=True)
class InwardSeen:
    """What one connection from outside to the probe has shown: microseconds until the probe accepted it, as the responder measured.

    asked: False if the responder could not be asked, or did not say how it went: then nothing is shown.
    """

    connected: Connected
    asked: bool = True


@dataclass(frozen=True, slots=True)
class TargetSeen:
    """What one round saw of one target.

    handshake: of one attempt without a repetition. echoes: how many of ECHOES small echo requests were answered. full_size: whether one of
    FULL_SIZE octets was, which no router may fragment. None: could not be sent. mtu: the largest packet that a router on the way says it
    passes, 0 if none said. inward: the newest connection from outside that no round told; None if there is none.
    """

    handshake: Connected
    echoes: Annotated[int, range(ECHOES + 1)] | None
    full_size: bool | None
    mtu: Small = 0
    inward: InwardSeen | None = None


@dataclass(frozen=True, slots=True)
class ProbeRound:
    """One round: its number in the series, how many milliseconds ago it began, and a result for each target, in their order."""

    number: Large
    ago_ms: Large
    seen: tuple[TargetSeen, ...]


@dataclass(frozen=True, slots=True)
class ProbesRead:
    """Answer to ReadProbes: rounds later than the one asked for, oldest first.

    series: drawn anew when the prober starts or is given other targets; numbers begin again then. counted: packets that each named
    counter counted since before the first of these rounds; None if that is not known yet: then nothing shows which way they took.
    """

    series: str
    rounds: tuple[ProbeRound, ...]
    counted: Mapping[str, Large] | None = None
