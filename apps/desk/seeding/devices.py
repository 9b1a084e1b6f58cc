"""Seeded devices with MAC addresses."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

_MACHINES: Final = ("Framework 13", "ThinkPad T480", "ThinkPad X1", "MacBook Air", "Surface Laptop", "Desktop", "Dell XPS 13", "Lab laptop")
_OTHERS: Final = (
    *("Pixel 8", "iPhone 15", "Fairphone 5", "Galaxy S23", "iPad", "Kindle", "Home server", "Raspberry Pi", "Raspberry Pi 5"),
    *("Nintendo Switch", "PlayStation 5", "Steam Deck", "Printer", "Smart TV", "NAS", "Router"),
)
_DOCUMENTATION: Final = 0x00005E005300  # RFC 7042, 2.1.2: 256 addresses for documentation
_LOCAL: Final = 0x02 << 40  # locally administered


@dataclass(frozen=True, slots=True)
class SeedDevice:
    """A device of a member."""

    name: str
    mac: str


def iter_macs(random: Random) -> Iterator[str]:
    """Yield unique MAC addresses: those for documentation first, then locally administered ones."""
    for last in range(256):
        yield _format_mac(_DOCUMENTATION + last)
    seen: set[int] = set()
    while True:
        number = random.getrandbits(40)
        if number not in seen:
            seen.add(number)
            yield _format_mac(_LOCAL + number)


def make_devices(random: Random, addresses: Iterator[str]) -> tuple[SeedDevice, ...]:
    """Return one to four devices; the first one is a computer."""
    names = [random.choice(_MACHINES), *random.sample(_OTHERS, random.choices(range(4), weights=(30, 40, 20, 10))[0])]
    return tuple(SeedDevice(name, next(addresses)) for name in names)


def _format_mac(number: int) -> str:
    return number.to_bytes(6).hex(":")
