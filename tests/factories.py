"""Factories for rows, through the same services and constraints as in production; by default for the network of lab/topology.toml."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from ipaddress import IPv4Address, ip_address, ip_network
from itertools import count

import pghistory
from django.utils import timezone

from apps.accounts.models import User
from apps.bans.models import Notice, Reachable, ServerInterface
from apps.deployments.rollouts.probing import ProbeResult
from apps.gateways.packet_probes.observation import store_rounds
from apps.gateways.packet_probes.rounds import SeenRound
from apps.lib.database.validity import make_range_from_now
from apps.members.models import Device, Member, Tariff
from apps.nat.models import NatMapping
from apps.nat.services import map_address
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.operations.models import ProcessRole, RoleHeartbeat
from lab.topology import Topology, load_topology

PUBLIC = IPv4Address("198.51.100.7")
_numbers = (number for number in count(1) if number not in range(2200, 2300))  # tests give these themselves


@dataclass(frozen=True)
class Resident:
    """A member with one private address, its NAT mapping, and an IPv6 prefix."""

    member: Member
    holding: Holding
    mapping: NatMapping
    prefix: Holding


@dataclass(frozen=True)
class Network:
    """The lab's network as rows: its residents live on the lab's member hosts, by name."""

    group: GatewayGroup
    gateways: list[Gateway]
    private: Pool
    public: Pool
    prefixes: Pool
    admin: User
    residents: dict[str, Resident]


def user(
    name: str = "mara", *, staff: bool = True, password: str = "correct horse battery", roles: Sequence[str] = (), language: str = ""
) -> User:
    """Create an account: with these roles, with all staff rights, or as a member."""
    given = list(roles or (("network_admin", "approver") if staff else ("member",)))
    made = User.objects.create_user(
        name, password=password, roles=given, first_name=name.capitalize(), last_name="Lindqvist", language=language
    )
    made.refresh_from_db()
    return made


def written_by(person: User) -> AbstractContextManager[object]:
    """Record this account as the author of everything written in the block, as the history of a request does."""
    return pghistory.context(user=person.pk)


def member(name: str = "Selin Kaya", **changes: object) -> Member:
    """Create an active member."""
    tariff, _made = Tariff.objects.get_or_create(name="Standard")
    given = {"number": next(_numbers), "name": name, "tariff": tariff, "state": Member.State.ACTIVE, "since": date(2025, 10, 1)}
    return Member.objects.create(**(given | changes))


def pool(group: GatewayGroup, kind: str, prefix: str, **changes: object) -> Pool:
    """Create a pool of the group."""
    given = {"group": group, "kind": kind, "name": f"{kind} {prefix}", "prefix": ip_network(prefix)}
    return Pool.objects.create(**(given | {"member_length": 64 if kind == "prefix6" else 32} | changes))


def make_holding(holder: Member, of: Pool, prefix: str, **changes: object) -> Holding:
    """Assign the address or prefix to the member from now on."""
    given = {"member": holder, "pool": of, "group": of.group, "kind": of.kind, "pool_prefix": of.prefix, "prefix": ip_network(prefix)}
    made = Holding.objects.create(**({"valid": make_range_from_now()} | given | changes))
    made.refresh_from_db()
    return made


def gateway(group: GatewayGroup, name: str, **changes: object) -> Gateway:
    """Create a gateway with the lab's interfaces."""
    given = {"group": group, "name": name, "link": "local", "lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0"}
    return Gateway.objects.create(**(given | {"management_networks": [ip_network("172.31.0.0/24")]} | changes))


def probes(of: Network) -> None:
    """Configure probes through both gateways to the lab's internet, as in the lab."""
    GatewayGroup.objects.filter(pk=of.group.pk).update(
        probe_target4=ip_address("203.0.113.10"), probe_target6=ip_address("2001:db8:cafe::10"), probe_port=80
    )
    for number, each in enumerate(of.gateways):
        each.probe_interface = "probe0"
        each.probe_source4, each.probe_public4 = ip_address(f"172.31.254.{2 + 4 * number}"), ip_address(f"192.0.2.{251 + number}")
        each.probe_source6 = ip_address(f"2001:db8:b{1 + number}::2")
        each.save()
        each.group.refresh_from_db()


def store_probe(gateway: Gateway, results: Sequence[ProbeResult], at: datetime) -> None:
    """Store what one probe of each address family has shown."""
    store_rounds(gateway, [SeenRound(at, tuple(results))])


def servers(of: Network) -> Notice:
    """Create a server interface on both gateways, and the notice page of the lab's notice host; its web server stays reachable."""
    for each in of.gateways:
        ServerInterface.objects.create(gateway=each, name="srv0")
    ipv4, ipv6 = ip_address("192.0.2.50"), ip_address("2001:db8:5e::90")
    made = Notice.objects.create(group=of.group, ipv4=ipv4, ipv6=ipv6, contact="netzwart@lindenhof.example")
    Reachable.objects.create(notice=made, name="Portal", address=ip_address("192.0.2.40"), protocol="tcp", port=443)
    Reachable.objects.create(notice=made, name="Name server", address=ip_address("203.0.113.11"), protocol="udp", port=53)
    return made


def alive(**changes: object) -> None:
    """Record a fresh heartbeat and a finished task for every program of the portal."""
    now = timezone.now()
    given = {"started": now - timedelta(hours=1), "seen": now, "served": now, "broker_error": "", "broker_failing": None} | changes
    beats = [RoleHeartbeat(role=role, **given) for role in ProcessRole]
    RoleHeartbeat.objects.bulk_create(beats, update_conflicts=True, unique_fields=["role"], update_fields=list(given))


@cache
def load_lab() -> Topology:
    """Return the lab's topology, which nothing changes."""
    return load_topology()


def network(topology: Topology | None = None) -> Network:
    """Create the lab's network: two gateways, three pools, and a resident for each member host."""
    of = topology or load_lab()
    alive()
    group = GatewayGroup.objects.create(name="Lindenhof", live_since=timezone.now())
    gateways = [gateway(group, "nat-1", carries4=True), gateway(group, "nat-2", carries6=True)]
    private, public = pool(group, "private4", str(of.pools.private)), pool(group, "public4", str(of.pools.public))
    prefixes = pool(group, "prefix6", str(of.pools.ipv6))
    admin = user()
    residents = {}
    for number, node in enumerate(of.list_by_role("member")):
        who = member(f"Resident of {node.name}")
        holding = make_holding(who, private, str(node.ipv4))
        Device.objects.create(member=who, name=f"Laptop of {node.name}", mac=f"00:00:5e:00:53:{number:02x}")
        mapping = map_address(holding=holding, public=PUBLIC + number // 2, by=admin)
        prefix = make_holding(who, prefixes, str(ip_network(f"{node.ipv6}/64", strict=False)))
        residents[node.name] = Resident(who, holding, mapping, prefix)
    return Network(group, gateways, private, public, prefixes, admin, residents)
