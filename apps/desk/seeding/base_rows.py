"""The few rows that all others refer to: gateways and pools, sites, rooms and tariffs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.bans.models import ServerInterface
from apps.desk.seeding import houses
from apps.desk.seeding.addresses import SeedShare
from apps.desk.seeding.lab_network import LabNetwork, LabProbe
from apps.desk.seeding.people import TARIFFS, SeedPerson
from apps.lib.fields import Prefix
from apps.members.models import Room, Site, Tariff
from apps.network.models import Gateway, GatewayGroup, Pool

GROUP = "Lindenhof"
PUBLIC_NAMES = ("Public", "Public, further")


@dataclass(frozen=True, slots=True)
class SeedPools:
    """The rows of the pools."""

    private: Pool
    prefixes: Pool
    public: tuple[Pool, ...]

    def get_public_pool(self, share: SeedShare) -> Pool:
        return next(pool for pool in self.public if share.public in pool.prefix)


@dataclass(frozen=True, slots=True)
class HomeIds:
    """Ids of tariffs by name, and of rooms."""

    tariffs: dict[str, int]
    rooms: dict[houses.SeedRoom, int]


def make_network(ground: LabNetwork, link: str, host_keys: Mapping[str, str]) -> SeedPools:
    """Create the group, its gateways and its pools.

    The first gateway carries IPv4, the last IPv6. host_keys: of gateways that are reached by ssh.
    """
    targets = ground.targets
    group = GatewayGroup.objects.create(
        name=GROUP, probe_target4=targets.ipv4, probe_target6=targets.ipv6, probe_port=targets.port, live_since=timezone.now()
    )
    first, last = ground.gateways[0], ground.gateways[-1]
    for each in ground.gateways:
        made = Gateway.objects.create(
            group=group,
            name=each.name,
            link=Gateway.Link.SSH if each.name in host_keys else link,
            address=each.address,
            host_key=host_keys.get(each.name, ""),
            lan=each.lan,
            wan=each.wan,
            management=each.management,
            sync=each.sync,
            management_networks=list(ground.management),
            carries4=each is first,
            carries6=each is last,
            **(_build_probe(each.probe) if link == Gateway.Link.LAB else {}),  # a gateway in memory forwards nothing that could be probed
        )
        if each.server:
            ServerInterface.objects.create(gateway=made, name=each.server)
    return SeedPools(
        private=_make_pool(group, Pool.Kind.PRIVATE4, "Members", ground.private),
        prefixes=_make_pool(group, Pool.Kind.PREFIX6, "IPv6", ground.prefixes),
        public=tuple(_make_pool(group, Pool.Kind.PUBLIC4, *pair) for pair in zip(PUBLIC_NAMES, ground.public, strict=False)),
    )


def _build_probe(probe: LabProbe) -> dict[str, Any]:
    return {
        "probe_interface": probe.interface,
        "probe_source4": probe.source4,
        "probe_public4": probe.public4,
        "probe_source6": probe.source6,
    }


def _make_pool(group: GatewayGroup, kind: str, name: str, prefix: Prefix) -> Pool:
    return Pool.objects.create(group=group, kind=kind, name=name, prefix=prefix, member_length=64 if kind == Pool.Kind.PREFIX6 else 32)


def make_homes(people: Iterable[SeedPerson]) -> HomeIds:
    """Create tariffs, and the sites and rooms in which members live."""
    lived_in = sorted({person.room for person in people if person.room}, key=lambda room: (room.site, room.floor, room.name))
    sites = {code: Site.objects.create(name=f"House {code}", code=code) for code in sorted({room.site for room in lived_in})}
    rooms = Room.objects.bulk_create((Room(site=sites[room.site], floor=room.floor, name=room.name) for room in lived_in), 5_000)
    tariffs = [Tariff.objects.create(name=name, most_forwards=most, trial=name == "Trial") for name, most in TARIFFS.items()]
    return HomeIds({tariff.name: tariff.pk for tariff in tariffs}, {room: row.pk for room, row in zip(lived_in, rooms, strict=True)})
