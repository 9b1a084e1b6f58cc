"""What a gateway's reading of its counters says of bans and of members. Pure: a wire message in, values out."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from struct import Struct

from apps.lib.fields import Prefix
from apps.traffic.tallies import Counted
from firewall.wire import Counts, Reading

type Row = tuple[Prefix, int, int]

NUMBER = Struct(">Q")


def bans(reading: Reading) -> Mapping[Prefix, tuple[int, int]]:
    """Packets and octets of each banned prefix that was hit."""
    return {prefix: (packets, octets) for prefix, packets, octets in _rows(reading, "bans")}


def members(reading: Reading) -> Mapping[Prefix, Counted]:
    """Counters of each address and prefix over which anything went, by what its holder holds."""
    up = {prefix: (packets, octets) for prefix, packets, octets in _rows(reading, "up")}
    down = {prefix: (packets, octets) for prefix, packets, octets in _rows(reading, "down")}
    return {prefix: Counted(*up.get(prefix, (0, 0)), *down.get(prefix, (0, 0))) for prefix in up | down}


def _rows(reading: Reading, start: str) -> Iterator[Row]:
    """Prefix, packets and octets of every element with packets, in all sets whose names start so."""
    for name, counts in reading.sets.items():
        if name.startswith(start):
            yield from _set_rows(name.removeprefix(start), counts)


def _set_rows(kind: str, counts: Counts) -> Iterator[Row]:
    family, _, digits = kind.partition("_")
    width, length = 4 if family == "4" else 16, int(digits or 32)
    keys = Struct(f"{width}s").iter_unpack(counts.keys)
    for (key,), (packets,), (octets,) in zip(keys, NUMBER.iter_unpack(counts.packets), NUMBER.iter_unpack(counts.octets), strict=True):
        yield ip_network((key, length)), packets, octets
