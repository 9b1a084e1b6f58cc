"""Planning a network, and writing it into an empty database.

The plan satisfies by construction what services would check; the database's constraints still check it.
"""

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

from apps.desk.seeding.addresses import SeedHolding, SeedPersonAddresses, make_person_addresses
from apps.desk.seeding.base_rows import SeedPools, TariffAndRoomIds, make_homes, make_network
from apps.desk.seeding.forwards import SeedForward, make_forwards
from apps.desk.seeding.lab_network import LabNetwork
from apps.desk.seeding.people import NamedResident, SeedPerson, make_people
from apps.lib.database.bulk_copy import CopyRow, copy_row_groups, copy_rows
from apps.lib.enqueue import batch_tasks, enqueue_task
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
class NetworkPlan:
    """A whole network before any row exists: shares and their forwards, in parallel lists."""

    ground: LabNetwork
    shares: list[SeedPersonAddresses]
    forwards: list[list[SeedForward]]


def make_plan(
    seed: int,
    count: int,
    ground: LabNetwork,
    today: date,
    residents: Sequence[NamedResident] = (),
    known: Sequence[Sequence[SeedForward]] = (),
) -> NetworkPlan:
    """Return the plan; the same arguments give the same plan. Residents live on the ground's hosts, with the `known` forwards."""
    random = Random(seed)  # noqa: S311 - a made-up network is not a secret
    having = make_person_addresses(random, make_people(random, count, today, residents), ground, ground.hosts[: len(residents)])
    return NetworkPlan(ground, having, make_forwards(random, having, known))


def write_plan(plan: NetworkPlan, link: str, host_keys: Mapping[str, str] = MappingProxyType({})) -> list[int]:
    """Write all rows in one transaction, and return the members' ids in the order of the plan. host_keys: of gateways reached by ssh."""
    with transaction.atomic(), pghistory.context(cause="seed"), batch_tasks():
        pools = make_network(plan.ground, link, host_keys)
        homes = make_homes(share.person for share in plan.shares)
        pairs = zip(plan.shares, plan.forwards, strict=True)
        members = [member for batch in batched(pairs, MEMBERS_AT_ONCE) for member in _write_batch(batch, homes, pools)]
        enqueue_task("workers.reconcile")
    return members


def _write_batch(batch: Sequence[tuple[SeedPersonAddresses, list[SeedForward]]], homes: TariffAndRoomIds, pools: SeedPools) -> list[int]:
    having = [share for share, _wanted in batch]
    members = copy_rows(Member, MEMBER, (_build_member(share.person, homes) for share in having))
    residing = list(zip(members, having, strict=True))
    devices = copy_row_groups(
        Device, DEVICE, ([(member, each.name, each.mac) for each in share.person.devices] for member, share in residing)
    )
    private = (
        [_build_private(member, own, each, pools) for each in share.private] for (member, share), own in zip(residing, devices, strict=True)
    )
    holdings = copy_row_groups(Holding, HOLDING, private)
    copy_rows(Holding, HOLDING, (_build_holding(member, share.prefix, pools.prefixes) for member, share in residing if share.prefix))
    copy_rows(NatMapping, MAPPING, (row for share, own in zip(having, holdings, strict=True) for row in _iter_mappings(share, own, pools)))
    copy_rows(PortForward, FORWARD, (row for pair, own in zip(batch, holdings, strict=True) for row in _iter_forwards(*pair, own, pools)))
    return members


def _build_member(person: SeedPerson, homes: TariffAndRoomIds) -> CopyRow:
    room = homes.rooms[person.room] if person.room else None
    who = (1, person.number, person.name, person.email, person.language, person.state)
    return (*who, homes.tariffs[person.tariff], room, person.since, person.paid_until, person.note)


def _build_private(member: int, devices: Sequence[int], held: SeedHolding, pools: SeedPools) -> CopyRow:
    return _build_holding(member, held, pools.get_private_pool(held), devices[held.device or 0])


def _build_holding(member: int, held: SeedHolding, pool: Pool, device: int | None = None) -> CopyRow:
    return (member, device, pool.pk, pool.group_id, pool.kind, str(pool.prefix), str(held.prefix), _build_validity(held))


def _iter_mappings(share: SeedPersonAddresses, holdings: Sequence[int], pools: SeedPools) -> Iterator[CopyRow]:
    return (_build_mapping(holding, held, share, pools) for holding, held in zip(holdings, share.private, strict=True))


def _iter_forwards(
    share: SeedPersonAddresses, wanted: Sequence[SeedForward], holdings: Sequence[int], pools: SeedPools
) -> Iterator[CopyRow]:
    for each in wanted:
        service = each.service
        where = _build_mapping(holdings[each.address], share.private[each.address], share, pools)
        yield (*where, service.protocol, each.public_port, service.port, service.purpose, each.enabled)


def _build_mapping(holding: int, held: SeedHolding, share: SeedPersonAddresses, pools: SeedPools) -> CopyRow:
    pool, time = pools.get_public_pool(share), _build_validity(held)
    return (1, holding, pool.group_id, Pool.Kind.PRIVATE4, time, pool.pk, pool.kind, str(pool.prefix), str(share.public), time)


def _build_validity(held: SeedHolding) -> TimestamptzRange:
    return TimestamptzRange(held.since, held.until)
