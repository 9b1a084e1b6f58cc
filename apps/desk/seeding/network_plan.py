"""Plan a network, and write it into an empty database. What services check is so by construction; constraints check it still."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import batched
from random import Random
from types import MappingProxyType
from typing import Final

import pghistory
from django.db import transaction
from psycopg.types.range import TimestamptzRange

from apps.desk.seeding.addresses import Held, Share, shares
from apps.desk.seeding.base_rows import Homes, Pools, make_homes, make_network
from apps.desk.seeding.bulk_copy import Row, copy, copy_groups
from apps.desk.seeding.forwards import Forward, forwards
from apps.desk.seeding.lab_network import Ground
from apps.desk.seeding.people import Person, Resident, people
from apps.lib.enqueue import nudge
from apps.members.models import Device, Member
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Holding, Pool

MEMBERS_AT_ONCE: Final = 100_000

MEMBER: Final = ("version", "number", "name", "email", "language", "state", "tariff_id", "room_id", "since", "paid_until", "note")
DEVICE: Final = ("member_id", "name", "mac")
HOLDING: Final = ("member_id", "device_id", "pool_id", "group_id", "kind", "pool_prefix", "prefix", "valid")
MAPPING: Final = ("version", "holding_id", "group_id", "kind", "held", "pool_id", "pool_kind", "pool_prefix", "public", "valid")
FORWARD: Final = (*MAPPING, "protocol", "public_port", "private_port", "purpose", "enabled")


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole network, before there is a row of it: shares and their forwards, side by side."""

    ground: Ground
    shares: list[Share]
    forwards: list[list[Forward]]


def plan(
    seed: int, count: int, ground: Ground, today: date, residents: Sequence[Resident] = (), known: Sequence[Sequence[Forward]] = ()
) -> Plan:
    """The same for the same arguments. Residents live on the ground's hosts; what they forward is known."""
    random = Random(seed)  # noqa: S311 - a made-up network is no secret
    having = shares(random, people(random, count, today, residents), ground, ground.hosts[: len(residents)])
    return Plan(ground, having, forwards(random, having, known))


def write(plan: Plan, link: str, host_keys: Mapping[str, str] = MappingProxyType({})) -> list[int]:
    """All rows in one transaction; returns the members' ids in the order of the plan. host_keys: of gateways reached by ssh."""
    with transaction.atomic(), pghistory.context(cause="seed"):
        pools = make_network(plan.ground, link, host_keys)
        homes = make_homes(share.person for share in plan.shares)
        pairs = zip(plan.shares, plan.forwards, strict=True)
        members = [member for batch in batched(pairs, MEMBERS_AT_ONCE) for member in _batch(batch, homes, pools)]
        nudge("workers.reconcile")
    return members


def _batch(batch: Sequence[tuple[Share, list[Forward]]], homes: Homes, pools: Pools) -> list[int]:
    having = [share for share, _wanted in batch]
    members = copy(Member, MEMBER, (_member(share.person, homes) for share in having))
    residing = list(zip(members, having, strict=True))
    devices = copy_groups(Device, DEVICE, ([(member, each.name, each.mac) for each in share.person.devices] for member, share in residing))
    private = (
        [_private(member, own, each, pools) for each in share.private] for (member, share), own in zip(residing, devices, strict=True)
    )
    holdings = copy_groups(Holding, HOLDING, private)
    copy(Holding, HOLDING, (_held(member, share.prefix, pools.prefixes) for member, share in residing if share.prefix))
    copy(NatMapping, MAPPING, (row for share, own in zip(having, holdings, strict=True) for row in _mappings(share, own, pools)))
    copy(PortForward, FORWARD, (row for pair, own in zip(batch, holdings, strict=True) for row in _forwards(*pair, own, pools)))
    return members


def _member(person: Person, homes: Homes) -> Row:
    room = homes.rooms[person.room] if person.room else None
    who = (1, person.number, person.name, person.email, person.language, person.state)
    return (*who, homes.tariffs[person.tariff], room, person.since, person.paid_until, person.note)


def _private(member: int, devices: Sequence[int], held: Held, pools: Pools) -> Row:
    return _held(member, held, pools.private, devices[held.device or 0])


def _held(member: int, held: Held, pool: Pool, device: int | None = None) -> Row:
    return (member, device, pool.pk, pool.group_id, pool.kind, str(pool.prefix), str(held.prefix), _time(held))


def _mappings(share: Share, holdings: Sequence[int], pools: Pools) -> Iterator[Row]:
    return (_of_holding(holding, held, share, pools) for holding, held in zip(holdings, share.private, strict=True))


def _forwards(share: Share, wanted: Sequence[Forward], holdings: Sequence[int], pools: Pools) -> Iterator[Row]:
    for each in wanted:
        service = each.service
        where = _of_holding(holdings[each.address], share.private[each.address], share, pools)
        yield (*where, service.protocol, each.public_port, service.port, service.purpose, each.enabled)


def _of_holding(holding: int, held: Held, share: Share, pools: Pools) -> Row:
    pool, time = pools.public_of(share), _time(held)
    return (1, holding, pool.group_id, pools.private.kind, time, pool.pk, pool.kind, str(pool.prefix), str(share.public), time)


def _time(held: Held) -> TimestamptzRange:
    return TimestamptzRange(held.since, held.until)
