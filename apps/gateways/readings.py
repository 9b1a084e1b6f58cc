"""What a gateway's reading of its counters says of bans and of members. Pure: a wire message in, values out."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from ipaddress import ip_network

from apps.bans.hits import Counters
from apps.bans.models import Direction
from apps.lib.fields import Prefix
from apps.traffic.tallies import Counted
from firewall.elements.bans import FAMILIES
from firewall.wire import Reading

type Row = tuple[Prefix, int, int]


def bans(reading: Reading) -> Counters:
    """Packets and octets of each ban that was hit, by its prefix and direction."""
    return {
        (prefix, Direction(direction)): (packets, octets)
        for direction, family in FAMILIES.items()
        for prefix, packets, octets in _rows(reading, family)
    }


def members(reading: Reading) -> Mapping[Prefix, Counted]:
    """Counters of each address and prefix over which anything went, by what its holder holds."""
    up = {prefix: (packets, octets) for prefix, packets, octets in _rows(reading, "up")}
    down = {prefix: (packets, octets) for prefix, packets, octets in _rows(reading, "down")}
    return {prefix: Counted(*up.get(prefix, (0, 0)), *down.get(prefix, (0, 0))) for prefix in up | down}


def _rows(reading: Reading, start: str) -> Iterator[Row]:
    """Prefix, packets and octets of every element with packets, in all sets whose names start so."""
    for name, packed in reading.keys.items():
        if name.startswith((f"{start}4", f"{start}6")):
            yield from _set_rows(name.removeprefix(start), b64decode(packed), reading.packets[name], reading.octets[name])


def _set_rows(kind: str, keys: bytes, packets: tuple[int, ...], octets: tuple[int, ...]) -> Iterator[Row]:
    family, _, digits = kind.partition("_")
    width = 4 if family == "4" else 16
    length = int(digits or 32)
    for at, (number, volume) in enumerate(zip(packets, octets, strict=True)):
        if number:
            yield ip_network((keys[at * width : (at + 1) * width], length)), number, volume
