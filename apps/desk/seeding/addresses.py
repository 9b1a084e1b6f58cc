"""Who holds which addresses when, and as what they leave. Pure.

Of what left members held, some is held by others today: "who was it in May?" has more than one answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from ipaddress import IPv4Address, IPv6Network
from random import Random
from typing import Final

from apps.desk.seeding.lab_network import Ground, Host
from apps.desk.seeding.people import Person
from apps.members.models import Member

_SHARERS: Final = (1, 1, 4, 8, 16, 32)  # members behind one public address
_SHARED_BY_RESIDENTS: Final = 2
_FIRST_SHARED: Final = 7  # 198.51.100.7
_FIRST_PRIVATE: Final = 1 << 12  # the lab's hosts lie below
_FIRST_PREFIX: Final = 1 << 12
_AGAIN: Final = timedelta(days=14)  # before somebody else gets an address


@dataclass(frozen=True, slots=True)
class Held:
    """A private address or an IPv6 prefix, for some time, perhaps by one of the member's devices (by position)."""

    prefix: IPv4Address | IPv6Network
    since: datetime
    until: datetime | None
    device: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """What a person has of the network's addresses. All private addresses leave as `public`."""

    person: Person
    private: tuple[Held, ...] = ()
    prefix: Held | None = None
    public: IPv4Address | None = None


def shares(random: Random, people: Sequence[Person], ground: Ground, residents: Sequence[Host] = ()) -> list[Share]:
    """A share for each person; the first ones live on the hosts."""
    private, prefixes, public = _private(ground), _prefixes(ground), _public(random, ground, len(residents))
    given_back: list[Held] = []
    made = []
    for index, person in enumerate(people):
        if person.state == Member.State.PENDING:
            made.append(Share(person))
            continue
        host = residents[index] if index < len(residents) else None
        since, until = _moment(random, person.since), _moment(random, person.left) if person.left else None
        held = tuple(_address(random, private, given_back, since, until, device, host) for device in _wired(random, person, host))
        if until:
            given_back += held
        made.append(Share(person, held, Held(host.prefix if host else next(prefixes), since, until), next(public)))
    return made


def _address(
    random: Random,
    fresh: Iterator[IPv4Address],
    given_back: list[Held],
    since: datetime,
    until: datetime | None,
    device: int,
    host: Host | None,
) -> Held:
    if host:
        return Held(host.address, since, until, device)
    before = given_back[-1] if given_back and random.random() < 0.6 else None
    if before and before.until and not until and before.until + _AGAIN < since:
        given_back.pop()
        return Held(before.prefix, since, until, device)
    return Held(next(fresh), since, until, device)


def _wired(random: Random, person: Person, host: Host | None) -> list[int]:
    """Which devices have an address: the first, and two of five others."""
    others = [] if host else [device for device in range(1, len(person.devices)) if random.random() < 0.4]
    return [0, *others]


def _moment(random: Random, day: date) -> datetime:
    return datetime.combine(day, time(8 + random.randrange(10), random.randrange(60)), UTC)


def _private(ground: Ground) -> Iterator[IPv4Address]:
    first = int(ground.private.network_address)
    return (IPv4Address(first + at) for at in range(_FIRST_PRIVATE, ground.private.num_addresses) if 0 < at & 0xFF < 0xFF)


def _prefixes(ground: Ground) -> Iterator[IPv6Network]:
    first = int(ground.prefixes.network_address)
    return (IPv6Network((first + (at << 64), 64)) for at in range(_FIRST_PREFIX, 1 << (64 - ground.prefixes.prefixlen)))


def _public(random: Random, ground: Ground, residents: int) -> Iterator[IPv4Address]:
    """A public address for each member in turn; residents share by two."""
    addresses = (network.network_address + at for network in ground.public for at in range(_FIRST_SHARED, network.num_addresses - 1))
    while True:
        address = next(addresses)
        sharers = min(_SHARED_BY_RESIDENTS, residents) if residents > 0 else random.choice(_SHARERS)
        residents -= sharers
        for _ in range(sharers):
            yield address
