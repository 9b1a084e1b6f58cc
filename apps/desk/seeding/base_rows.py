"""The few rows that all others refer to: gateways and pools, sites, rooms and tariffs. Services add them, as for people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from apps.bans.listeners.services import set_server_facing_interface
from apps.deployments.rollouts.go_live import go_live
from apps.desk.seeding import houses
from apps.desk.seeding.addresses import SeedHolding, SeedPersonAddresses
from apps.desk.seeding.lab_network import LabGateway, LabNetwork, LabProbe
from apps.desk.seeding.people import TARIFFS, SeedPerson
from apps.gateways.enrolment import enrol_gateway
from apps.gateways.groups import GroupFacts, add_group
from apps.gateways.services import configure_gateway, get_facts
from apps.lib.fields import Prefix
from apps.members.room_names import RoomName
from apps.members.site_services import add_rooms, add_site
from apps.members.tariff_services import TariffTerms, add_tariff
from apps.network.models import Gateway, GatewayGroup, Pool
from apps.network.services import add_pool

GROUP = "Lindenhof"
PRIVATE_NAMES = ("Members", "Members, further")
PUBLIC_NAMES = ("Public", "Public, further")


@dataclass(frozen=True, slots=True)
class SeedPools:
    """The rows of the pools."""

    private: tuple[Pool, ...]
    prefixes: Pool
    public: tuple[Pool, ...]

    def get_private_pool(self, held: SeedHolding) -> Pool:
        return next(pool for pool in self.private if held.prefix in pool.prefix)

    def get_public_pool(self, share: SeedPersonAddresses) -> Pool:
        return next(pool for pool in self.public if share.public in pool.prefix)


@dataclass(frozen=True, slots=True)
class TariffAndRoomIds:
    """Ids of tariffs by name, and of rooms."""

    tariffs: dict[str, int]
    rooms: dict[houses.SeedRoom, int]


def make_network(ground: LabNetwork, link: str, host_keys: Mapping[str, str]) -> SeedPools:
    """Add the group, its gateways and its pools, and go live with it.

    The first gateway carries IPv4, the last IPv6. host_keys: of gateways that are reached by ssh.
    """
    targets = ground.targets
    responder = targets.responder_port if link == Gateway.Link.LAB else None
    group = add_group(
        facts=GroupFacts(GROUP, probe_target4=targets.ipv4, probe_target6=targets.ipv6, probe_port=targets.port, responder_port=responder)
    )
    for each in ground.gateways:
        made = _add_gateway(group, each, ground, Gateway.Link.SSH if each.name in host_keys else link, host_keys.get(each.name, ""))
        if link == Gateway.Link.LAB:  # a gateway in memory forwards nothing that could be probed
            configure_gateway(gateway=made, version=made.version, facts=replace(get_facts(made), **_build_probe(each.probe)))
        if each.server:
            set_server_facing_interface(gateway=made, name=each.server, by=None)
    go_live(group=group)
    return SeedPools(
        private=tuple(_add_pool(group, Pool.Kind.PRIVATE4, *pair) for pair in zip(PRIVATE_NAMES, ground.private, strict=False)),
        prefixes=_add_pool(group, Pool.Kind.PREFIX6, "IPv6", ground.prefixes),
        public=tuple(_add_pool(group, Pool.Kind.PUBLIC4, *pair) for pair in zip(PUBLIC_NAMES, ground.public, strict=False)),
    )


def _add_gateway(group: GatewayGroup, of: LabGateway, ground: LabNetwork, link: str, host_key: str) -> Gateway:
    carries = [family for family, carrier in ((4, ground.gateways[0]), (6, ground.gateways[-1])) if of is carrier]
    return enrol_gateway(
        name=of.name,
        group=group,
        link=link,
        address=of.address,
        port=22,
        account="netzwart",
        host_key=host_key,
        management_networks=ground.management,
        carries=carries,
        lan=of.lan,
        wan=of.wan,
        management=of.management,
        sync=of.sync,
        sync_address=of.sync_address,
    )


def _build_probe(probe: LabProbe) -> dict[str, Any]:
    return {
        "probe_interface": probe.interface,
        "probe_source4": probe.source4,
        "probe_public4": probe.public4,
        "probe_source6": probe.source6,
    }


def _add_pool(group: GatewayGroup, kind: str, name: str, prefix: Prefix) -> Pool:
    """Add a pool that keeps nothing free: the lab's hosts have some of the first addresses. Members share the public ones."""
    sharing = Pool.Sharing.SHARED if kind == Pool.Kind.PUBLIC4 else ""
    length = 64 if kind == Pool.Kind.PREFIX6 else 32
    return add_pool(group=group, kind=kind, name=name, prefix=prefix, member_length=length, sharing=sharing, kept_first=0, by=None)


def make_homes(people: Iterable[SeedPerson]) -> TariffAndRoomIds:
    """Add tariffs, and the sites and rooms in which members live."""
    lived_in = sorted({person.room for person in people if person.room}, key=lambda room: (room.site, room.floor, room.name))
    rooms: dict[houses.SeedRoom, int] = {}
    for code, inside in groupby(lived_in, key=lambda room: room.site):
        wanted = list(inside)
        added = add_rooms(site=add_site(name=f"House {code}", code=code), rooms=[RoomName(room.floor, room.name) for room in wanted])
        rooms |= {room: row.pk for room, row in zip(wanted, added.rooms, strict=True)}
    terms = (TariffTerms(name, most_forwards=most, trial=name == "Trial") for name, most in TARIFFS.items())
    return TariffAndRoomIds({tariff.name: tariff.pk for tariff in (add_tariff(terms=each, by=None) for each in terms)}, rooms)
