"""What a gateway's reading of its counters says of bans and of members. Pure: a wire message in, values out."""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from struct import Struct

from apps.bans.hits import Counters
from apps.bans.models import Direction
from apps.lib.fields import Prefix
from apps.traffic.tallies import Counted
from firewall.elements.bans import FAMILIES
from firewall.wire import Counts, Reading

type Pair = tuple[int, int]  # packets and octets

NUMBER = Struct(">Q")
NOTHING: Pair = (0, 0)


def bans(reading: Reading) -> Counters:
    """Packets and octets of each ban that was hit, by its prefix and direction."""
    return {
        (_prefix(kind, key), Direction(direction)): pair
        for direction, family in FAMILIES.items()
        for kind, pairs in _kinds(reading, family).items()
        for key, pair in pairs.items()
    }


def members(reading: Reading) -> Mapping[Prefix, Counted]:
    """Counters of each address and prefix over which anything went, by what its holder holds."""
    ups, downs = _kinds(reading, "up"), _kinds(reading, "down")
    found: dict[Prefix, Counted] = {}
    for kind in ups | downs:
        up, down = ups.get(kind, {}), downs.get(kind, {})
        found |= {_prefix(kind, key): Counted(*up.get(key, NOTHING), *down.get(key, NOTHING)) for key in up | down}
    return found


def _kinds(reading: Reading, start: str) -> dict[str, dict[bytes, Pair]]:
    """Keys with their counts, by what follows in the names of all sets of both IP versions that start so: "4", "6_64"."""
    ours = (f"{start}4", f"{start}6")
    return {name.removeprefix(start): _pairs(name, counts) for name, counts in reading.sets.items() if name.startswith(ours)}


def _pairs(name: str, counts: Counts) -> dict[bytes, Pair]:
    keys = Struct("4s" if _is_ipv4(name) else "16s").iter_unpack(counts.keys)
    numbers = (NUMBER.iter_unpack(column) for column in (counts.packets, counts.octets))
    return {key: (packets, octets) for (key,), (packets,), (octets,) in zip(keys, *numbers, strict=True)}


def _is_ipv4(name: str) -> bool:
    return name.partition("_")[0].endswith("4")


def _prefix(kind: str, key: bytes) -> Prefix:
    length = int(kind.partition("_")[2] or 32)
    return IPv4Network((key, length)) if _is_ipv4(kind) else IPv6Network((key, length))
