"""Write a planned network into an empty database, in batches. Services would check what is so by construction; constraints still do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from ipaddress import ip_network
from itertools import batched
from random import Random
from typing import Any

import pghistory
from django.db import models, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from apps.desk.seeding.addresses import Held, Share, shares
from apps.desk.seeding.devices import Device as Owned
from apps.desk.seeding.forwards import Forward, forwards
from apps.desk.seeding.ground import Ground
from apps.desk.seeding.people import TARIFFS, Person, Resident, people
from apps.lib.nudge import nudge
from apps.members.models import Device, Member, Room, Site, Tariff
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Gateway, GatewayGroup, Holding, Pool

BATCH = 5_000
MEMBERS_AT_ONCE = 10_000
GROUP = "Lindenhof"


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


def write(plan: Plan, link: str) -> list[Member]:
    """All rows in one transaction; returns the members in the order of the plan."""
    with transaction.atomic(), pghistory.context(cause="seed"):
        pools = Pools(_network(plan.ground, link), plan.ground)
        homes = _Homes([share.person for share in plan.shares])
        pairs = zip(plan.shares, plan.forwards, strict=True)
        written = [member for batch in batched(pairs, MEMBERS_AT_ONCE) for member in _batch(batch, homes, pools)]
        nudge("workers.reconcile")
    return written


class Pools:
    """The pools as rows."""

    def __init__(self, group: GatewayGroup, ground: Ground) -> None:
        self.private = self._make(group, Pool.Kind.PRIVATE4, "Members", ground.private)
        self.prefixes = self._make(group, Pool.Kind.PREFIX6, "IPv6", ground.prefixes)
        names = ("Public", "Public, further")
        self.public = [self._make(group, Pool.Kind.PUBLIC4, name, prefix) for name, prefix in zip(names, ground.public, strict=False)]

    @staticmethod
    def _make(group: GatewayGroup, kind: str, name: str, prefix: object) -> Pool:
        return Pool.objects.create(group=group, kind=kind, name=name, prefix=prefix, member_length=64 if kind == Pool.Kind.PREFIX6 else 32)

    def public_of(self, share: Share) -> Pool:
        return next(pool for pool in self.public if share.public in pool.prefix)


class _Homes:
    """Sites, rooms and tariffs as rows."""

    def __init__(self, people: Iterable[Person]) -> None:
        lived_in = sorted({person.room for person in people if person.room}, key=lambda room: (room.site, room.floor, room.name))
        self.tariffs = {name: Tariff.objects.create(name=name, most_forwards=most, trial=name == "Trial") for name, most in TARIFFS.items()}
        sites = {code: Site.objects.create(name=f"House {code}", code=code) for code in sorted({room.site for room in lived_in})}
        rows = [Room(site=sites[room.site], floor=room.floor, name=room.name) for room in lived_in]
        self.rooms = dict(zip(lived_in, Room.objects.bulk_create(rows, BATCH), strict=True))


def _network(ground: Ground, link: str) -> GatewayGroup:
    group = GatewayGroup.objects.create(name=GROUP)
    first, last = ground.gateways[0], ground.gateways[-1]
    for each in ground.gateways:
        Gateway.objects.create(
            group=group,
            name=each.name,
            link=link,
            lan=each.lan,
            wan=each.wan,
            management=each.management,
            sync=each.sync,
            management_networks=list(ground.management),
            carries4=each is first,
            carries6=each is last,
        )
    return group


def _batch(batch: Sequence[tuple[Share, list[Forward]]], homes: _Homes, pools: Pools) -> list[Member]:
    having = [share for share, _forwards in batch]
    members = _all(Member, (_member(share.person, homes) for share in having))
    residing = list(zip(members, having, strict=True))
    owned = _grouped(Device, ([_device(member, each) for each in share.person.devices] for member, share in residing))
    private = ([_private(member, own, each, pools) for each in share.private] for (member, share), own in zip(residing, owned, strict=True))
    holdings = _grouped(Holding, private)
    _all(Holding, (_held(member, share.prefix, pools.prefixes) for member, share in residing if share.prefix))
    _all(NatMapping, (_mapping(each, share, pools) for share, own in zip(having, holdings, strict=True) for each in own))
    pairs = zip(batch, holdings, strict=True)
    _all(PortForward, (_forward(own[each.address], share, each, pools) for (share, wanted), own in pairs for each in wanted))
    return members


def _all[Row: models.Model](model: type[Row], rows: Iterable[Row]) -> list[Row]:
    return model._default_manager.bulk_create(rows, BATCH)


def _grouped[Row: models.Model](model: type[Row], groups: Iterable[list[Row]]) -> list[list[Row]]:
    """Write all groups at once; the rows come back in their groups."""
    lists = list(groups)
    written = iter(_all(model, (row for group in lists for row in group)))
    return [[next(written) for _row in group] for group in lists]


def _member(person: Person, homes: _Homes) -> Member:
    return Member(
        number=person.number,
        name=person.name,
        email=person.email,
        language=person.language,
        state=person.state,
        tariff=homes.tariffs[person.tariff],
        room=homes.rooms[person.room] if person.room else None,
        since=person.since,
        paid_until=person.paid_until,
        note=person.note,
    )


def _device(member: Member, device: Owned) -> Device:
    return Device(member=member, name=device.name, mac=device.mac)


def _private(member: Member, own: Sequence[Device], held: Held, pools: Pools) -> Holding:
    return _held(member, held, pools.private, own[held.device or 0])


def _held(member: Member, held: Held, pool: Pool, device: Device | None = None) -> Holding:
    return Holding(
        member=member,
        device=device,
        pool=pool,
        group_id=pool.group_id,
        kind=pool.kind,
        pool_prefix=pool.prefix,
        prefix=ip_network(held.prefix),
        valid=DateTimeTZRange(held.since, held.until),
    )


def _mapping(holding: Holding, share: Share, pools: Pools) -> NatMapping:
    return NatMapping(**_of_holding(holding, share, pools))


def _forward(holding: Holding, share: Share, forward: Forward, pools: Pools) -> PortForward:
    service = forward.service
    return PortForward(
        **_of_holding(holding, share, pools),
        protocol=service.protocol,
        public_port=forward.public_port,
        private_port=service.port,
        purpose=service.purpose,
        enabled=forward.enabled,
    )


def _of_holding(holding: Holding, share: Share, pools: Pools) -> dict[str, Any]:
    pool = pools.public_of(share)
    times = {"held": holding.valid, "valid": holding.valid}
    return {"holding": holding, "group_id": pool.group_id, "pool": pool, "pool_prefix": pool.prefix, "public": share.public, **times}
