"""Seeded holdings and the public addresses as which they leave. Pure.

Some addresses of members who left are held by other members today, so that the holder of an address depends on the time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from ipaddress import IPv4Address, IPv6Network
from random import Random
from typing import Final

from apps.desk.seeding.lab_network import LabHost, LabNetwork
from apps.desk.seeding.people import SeedPerson
from apps.members.models import Member

_SHARERS: Final = (1, 1, 4, 8, 16, 32)  # members behind one public address
_SHARED_BY_RESIDENTS: Final = 2
_FIRST_SHARED: Final = 7  # 198.51.100.7
_FIRST_PRIVATE: Final = 1 << 12  # the lab's hosts are below
_FIRST_PREFIX: Final = 1 << 12
_AGAIN: Final = timedelta(days=14)  # before another member gets a released address


@dataclass(frozen=True, slots=True)
class SeedHolding:
    """A private address or an IPv6 prefix, held for some time, perhaps on one of the member's devices (by position)."""

    prefix: IPv4Address | IPv6Network
    since: datetime
    until: datetime | None
    device: int | None = None


@dataclass(frozen=True, slots=True)
class SeedPersonAddresses:
    """A person's share of the network's addresses. All private addresses leave as `public`."""

    person: SeedPerson
    private: tuple[SeedHolding, ...] = ()
    prefix: SeedHolding | None = None
    public: IPv4Address | None = None


def make_person_addresses(
    random: Random, people: Sequence[SeedPerson], ground: LabNetwork, residents: Sequence[LabHost] = ()
) -> list[SeedPersonAddresses]:
    """Return a share for each person; the first ones get the addresses of the lab's hosts."""
    private, prefixes, public = _iter_private(ground), _iter_prefixes(ground), _iter_public(random, ground, len(residents))
    given_back: list[SeedHolding] = []
    made = []
    for index, person in enumerate(people):
        if person.state == Member.State.PENDING:
            made.append(SeedPersonAddresses(person))
            continue
        host = residents[index] if index < len(residents) else None
        since, until = _pick_moment(random, person.since), _pick_moment(random, person.left) if person.left else None
        held = tuple(
            _make_holding(random, private, given_back, since, until, device, host) for device in _pick_wired_devices(random, person, host)
        )
        if until:
            given_back += held
        made.append(SeedPersonAddresses(person, held, SeedHolding(host.prefix if host else next(prefixes), since, until), next(public)))
    return made


def _make_holding(
    random: Random,
    fresh: Iterator[IPv4Address],
    given_back: list[SeedHolding],
    since: datetime,
    until: datetime | None,
    device: int,
    host: LabHost | None,
) -> SeedHolding:
    if host:
        return SeedHolding(host.address, since, until, device)
    before = given_back[-1] if given_back and random.random() < 0.6 else None
    if before and before.until and not until and before.until + _AGAIN < since:
        given_back.pop()
        return SeedHolding(before.prefix, since, until, device)
    return SeedHolding(next(fresh), since, until, device)


def _pick_wired_devices(random: Random, person: SeedPerson, host: LabHost | None) -> list[int]:
    """Pick the devices that have an address: the first, and each other one with a probability of 0.4; only the first on a lab host."""
    others = [] if host else [device for device in range(1, len(person.devices)) if random.random() < 0.4]
    return [0, *others]


def _pick_moment(random: Random, day: date) -> datetime:
    return datetime.combine(day, time(8 + random.randrange(10), random.randrange(60)), UTC)


def _iter_private(ground: LabNetwork) -> Iterator[IPv4Address]:
    return (
        pool.network_address + at for pool in ground.private for at in range(_FIRST_PRIVATE, pool.num_addresses) if 0 < at & 0xFF < 0xFF
    )


def _iter_prefixes(ground: LabNetwork) -> Iterator[IPv6Network]:
    first = int(ground.prefixes.network_address)
    return (IPv6Network((first + (at << 64), 64)) for at in range(_FIRST_PREFIX, 1 << (64 - ground.prefixes.prefixlen)))


def _iter_public(random: Random, ground: LabNetwork, residents: int) -> Iterator[IPv4Address]:
    """Yield a public address for each member in turn; each two residents share one."""
    addresses = (network.network_address + at for network in ground.public for at in range(_FIRST_SHARED, network.num_addresses - 1))
    while True:
        address = next(addresses)
        sharers = min(_SHARED_BY_RESIDENTS, residents) if residents > 0 else random.choice(_SHARERS)
        residents -= sharers
        for _ in range(sharers):
            yield address
