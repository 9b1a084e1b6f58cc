"""Seeded port forwards of members. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from random import Random
from typing import Final

from apps.desk.seeding.addresses import SeedPersonAddresses
from apps.desk.seeding.people import TARIFFS
from apps.members.models import Member

HAVE_SOME: Final = 0.15
_HOW_MANY: Final = ((1, 2, 3, 4, 5, 6), (35, 25, 18, 12, 6, 4))
_LOWEST_FREE: Final = 1024


@dataclass(frozen=True, slots=True)
class ForwardedService:
    """A service: its purpose, protocol, the port that its program listens at, and its usual public port."""

    purpose: str
    protocol: str
    port: int
    public: int


@dataclass(frozen=True, slots=True)
class SeedForward:
    """A public port that leads to one of the member's private addresses (by position)."""

    service: ForwardedService
    public_port: int
    address: int = 0
    enabled: bool = True


WIREGUARD: Final = ForwardedService("WireGuard", "udp", 51820, 51820)
NEXTCLOUD: Final = ForwardedService("Nextcloud", "tcp", 443, 9443)
SSH: Final = ForwardedService("ssh", "tcp", 22, 2222)
MINECRAFT: Final = ForwardedService("Minecraft with the floor", "tcp", 25565, 25565)
TORRENTS: Final = ForwardedService("Linux images", "tcp", 51413, 51413)
SERVICES: Final = (
    *(WIREGUARD, NEXTCLOUD, SSH, MINECRAFT, TORRENTS),
    ForwardedService("Valheim", "udp", 2456, 2456),
    ForwardedService("Factorio", "udp", 34197, 34197),
    ForwardedService("Syncthing", "tcp", 22000, 22000),
    ForwardedService("Jellyfin", "tcp", 8096, 8096),
    ForwardedService("Git", "tcp", 3000, 3000),
    ForwardedService("Home Assistant", "tcp", 8123, 8123),
    ForwardedService("TeamSpeak", "udp", 9987, 9987),
    ForwardedService("Mumble", "udp", 64738, 64738),
    ForwardedService("Weather station", "tcp", 8883, 8883),
)


class TakenPorts:
    """The ports of public addresses that are taken."""

    def __init__(self) -> None:
        self._taken: set[tuple[IPv4Address, str, int]] = set()

    def take(self, public: IPv4Address, service: ForwardedService) -> int:
        """Take and return the service's usual public port, or the next free one above it."""
        port = service.public
        while (public, service.protocol, port) in self._taken:
            port = port + 1 if port < 65535 else _LOWEST_FREE
        self._taken.add((public, service.protocol, port))
        return port


def make_forwards(
    random: Random, shares: Sequence[SeedPersonAddresses], known: Sequence[Sequence[SeedForward]] = ()
) -> list[list[SeedForward]]:
    """Return each share's forwards.

    The first shares have the known ones; 15 % of the active others have one to six, within the tariff's limit.
    """
    ports = TakenPorts()
    for share, own in zip(shares, known, strict=False):
        for forward in own:
            if share.public and ports.take(share.public, forward.service) != forward.public_port:
                raise ValueError(forward)
    return [list(known[index]) if index < len(known) else _pick_forwards(random, share, ports) for index, share in enumerate(shares)]


def _pick_forwards(random: Random, share: SeedPersonAddresses, ports: TakenPorts) -> list[SeedForward]:
    if share.person.state != Member.State.ACTIVE or share.public is None or random.random() > HAVE_SOME:
        return []
    number = min(random.choices(*_HOW_MANY)[0], TARIFFS[share.person.tariff])
    return [
        SeedForward(service, ports.take(share.public, service), random.randrange(len(share.private)), random.random() > 0.1)
        for service in random.sample(SERVICES, number)
    ]
