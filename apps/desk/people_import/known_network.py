"""What is there before an import: members, houses, rooms, tariffs, devices, addresses and forwards, as plain values for `plan.py`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from apps.lib.fields import Address, Prefix
from apps.network.models import Pool


@dataclass(frozen=True, slots=True)
class KnownMember:
    """A member as the database has it. tariff, room: their ids."""

    id: int
    number: int
    name: str
    email: str
    language: str
    state: str
    tariff: int
    room: int | None
    since: date
    paid_until: date | None
    note: str
    version: int
    erased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownTariff:
    """A tariff. offered: whether further members may get it."""

    id: int
    name: str
    offered: bool = True


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A house."""

    id: int
    name: str
    code: str


@dataclass(frozen=True, slots=True)
class KnownForward:
    """Ports of a public address that lead to a member already. member: the id; a negative one is the line of a new member."""

    member: int
    private: Prefix
    public_port: int
    private_port: int
    ports: int


class SnatPlaceFinder(Protocol):
    """Finds the public address as which a new private address leaves (`nat/mappings_bulk.py`)."""

    def has_pool(self, group: int, public: Address | None = None) -> bool:
        """True if the gateway group has a public pool, or one with this address."""

    def take(self, member: int, group: int, public: Address | None) -> Address | None:
        """Take a place for the member, on this address if one is given; None when nothing is free. Raises Problem for one of a probe."""


@dataclass(slots=True)
class KnownNetwork:
    """Everything that a plan compares with.

    members: by number. tariffs: by name in lower case. rooms: the id by the site's id and the name in lower case. devices: the id of
    the owner, and of the device, by MAC address. held: who has an address or prefix now or later. publics: as what a private
    address leaves now. forwards: by public address and protocol. lengths: of the IPv6 prefixes that members hold, by gateway group.
    """

    today: date
    language: str = "en"
    default_tariff: int | None = None
    members: Mapping[int, KnownMember] = field(default_factory=dict)
    tariffs: Mapping[str, KnownTariff] = field(default_factory=dict)
    sites: Sequence[KnownSite] = ()
    rooms: Mapping[tuple[int, str], int] = field(default_factory=dict)
    devices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    held: Mapping[Prefix, int] = field(default_factory=dict)
    publics: Mapping[Prefix, Address] = field(default_factory=dict)
    forwards: Mapping[tuple[Address, str], Sequence[KnownForward]] = field(default_factory=dict)
    pools: Sequence[Pool] = ()
    lengths: Mapping[int, Collection[int]] = field(default_factory=dict)
    places: SnatPlaceFinder | None = None
