"""From rows to policies: the only bridge between the ORM and `firewall.policy`.

One consistent read, of everything that a group's gateways need or of what changed since an earlier one. Comes out: a policy per
gateway, the moment of the reading in the database's time, and which transactions it saw, so that anybody can ask later whether a
given change was in it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, ip_network
from typing import Any

from django.db import connection, transaction

from apps.deployments.touched import touched_since
from apps.network.models import Gateway, GatewayGroup
from firewall.policy import Ban, Forward, Interfaces, Keys, Management, NatMapping, Policy, Probe, Protocol
from firewall.policy import Gateway as GatewayPolicy


@dataclass(frozen=True, slots=True)
class Moment:
    """When the database was read: `seen` is PostgreSQL's pg_snapshot, `at` its clock, `origin` names the database and its history.

    A database that was restored from a dump or went back in time has another origin, or its transactions begin anew.
    """

    seen: str
    at: datetime
    origin: str

    @property
    def now(self) -> int:
        """Unix seconds, rounded down."""
        return int(self.at.timestamp())

    def precedes(self, other: "Moment") -> bool:
        """Is `other` a later look at the same history?"""
        return self.origin == other.origin and _next_transaction(self.seen) <= _next_transaction(other.seen)


def _next_transaction(seen: str) -> int:
    """The first transaction that had not begun: "xmin:xmax:running" (PostgreSQL manual, "pg_snapshot")."""
    return int(seen.split(":")[1])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the database asked for at one moment: policies by gateway id."""

    moment: Moment
    policies: dict[int, Policy]


@dataclass(frozen=True, slots=True)
class Changed(Snapshot):
    """What changed since an earlier moment: `touched` names the objects, the policies hold those of them that exist now."""

    touched: Keys


HELD = """
    SELECT {columns} FROM network_holding h JOIN members_member m ON m.id = h.member_id {join}
    WHERE h.group_id = %(group)s AND m.state = 'active' AND h.valid @> %(at)s::timestamptz AND {where} {{only}} ORDER BY {order}
"""
ADDRESSES = HELD.format(columns="h.prefix - '0.0.0.0'::inet", join="", where="h.kind = 'private4'", order="h.prefix")
PREFIXES = HELD.format(columns="h.prefix", join="", where="h.kind = 'prefix6'", order="h.prefix")
MAPPINGS = HELD.format(
    columns="h.prefix - '0.0.0.0'::inet, n.public - '0.0.0.0'::inet",
    join="JOIN nat_natmapping n ON n.holding_id = h.id",
    where="h.kind = 'private4' AND n.valid @> %(at)s::timestamptz",
    order="h.prefix",
)
FORWARDS = HELD.format(
    columns="f.id, f.protocol, f.public - '0.0.0.0'::inet, f.public_port, h.prefix - '0.0.0.0'::inet, f.private_port",
    join="JOIN nat_portforward f ON f.holding_id = h.id",
    where="f.valid @> %(at)s::timestamptz AND f.enabled",
    order="f.id",
)
# A prefix on several lists is one ban in the kernel: with the oldest one's comment, until the last of them ends.
BANS = """
    SELECT min(b.id), b.prefix, (array_agg(b.comment ORDER BY b.id))[1],
        CASE WHEN bool_or(b.expires IS NULL) THEN 0 ELSE ceil(extract(epoch FROM max(b.expires)))::bigint END
    FROM bans_ban b JOIN bans_banlist l ON l.id = b.list_id
    WHERE l.enabled AND (b.expires IS NULL OR b.expires > %(at)s::timestamptz) {only}
    GROUP BY b.prefix ORDER BY b.prefix
"""
# What restricts these queries to the objects that were touched.
ONLY_ADDRESSES = "AND h.prefix = ANY(%(addresses)s::cidr[])"
ONLY_PREFIXES = "AND h.prefix = ANY(%(prefixes)s::cidr[])"
ONLY_FORWARDS = """
    AND (f.public_port, f.protocol, f.public) IN (
        SELECT * FROM unnest(%(ports)s::int[], %(protocols)s::text[], %(publics)s::inet[])
    )
"""
ONLY_BANS = "AND b.prefix = ANY(%(bans)s::cidr[])"

MOMENT = """
    SELECT pg_current_snapshot()::text, clock_timestamp(), concat_ws(' ', system_identifier,
        (SELECT oid FROM pg_database WHERE datname = current_database()), 'deployments_touched'::regclass::oid,
        left(pg_walfile_name(pg_current_wal_lsn()), 8))
    FROM pg_control_system()
"""


def take(group: GatewayGroup, at: datetime | None = None) -> Snapshot:
    """Read everything the group's gateways need, as it was at one moment. at: as if it were then.

    Must not be called within a transaction: it needs one of its own that sees nothing newer.
    """
    with _one_moment(at) as moment:
        return _everything(group, moment)


def changed_since(group: GatewayGroup, earlier: Moment, at: datetime | None = None) -> Changed | None:
    """Read what changed since an earlier moment, by transactions that were not seen then or by time alone; like `take`.

    None when only reading everything will do: too much was touched, or the earlier moment is none of this database's past.
    """
    with _one_moment(at) as moment:
        return _changes(group, earlier, moment)


def both(group: GatewayGroup, earlier: Moment, at: datetime | None = None) -> tuple[Snapshot, Changed | None]:
    """Read everything, and what changed, at one moment."""
    with _one_moment(at) as moment:
        return _everything(group, moment), _changes(group, earlier, moment)


@contextmanager
def _one_moment(at: datetime | None) -> Iterator[Moment]:
    """A moment that is later than any row it sees: the transaction's own `now()` may be earlier."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(MOMENT)
        seen, clock, origin = cursor.fetchone()
        yield Moment(seen, at or clock, origin)


def _everything(group: GatewayGroup, moment: Moment) -> Snapshot:
    return Snapshot(moment, _policies(group, moment, None))


def _changes(group: GatewayGroup, earlier: Moment, moment: Moment) -> Changed | None:
    touched = touched_since(earlier.seen, earlier.at, moment.at) if earlier.precedes(moment) else None
    if touched is None:
        return None
    return Changed(moment, _policies(group, moment, touched), touched)


def _policies(group: GatewayGroup, moment: Moment, touched: Keys | None) -> dict[int, Policy]:
    """By gateway id; of the touched objects alone, unless that is None."""
    objects = {kind: _objects(group, moment, kind, touched) for kind in KINDS}
    gateways = list(Gateway.objects.filter(group=group).order_by("name"))
    objects["mappings"] += tuple(
        NatMapping(each.probe_source4, each.probe_public4)
        for each in gateways
        if each.probe_source4 and (touched is None or each.probe_source4 in touched.addresses)
    )
    return {gateway.pk: Policy(gateway=_gateway(gateway), **objects) for gateway in gateways}


def _objects(group: GatewayGroup, moment: Moment, kind: str, touched: Keys | None) -> tuple[Any, ...]:
    query, only, keys, value = KINDS[kind]
    where = {"group": group.pk, "at": moment.at}
    if touched is None:
        return tuple(value(*row) for row in _rows(query.format(only=""), where))
    restricted = keys(touched)
    return tuple(value(*row) for row in _rows(query.format(only=only), where | restricted)) if any(restricted.values()) else ()


def _rows(query: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


# Most of what is read was read before: a feed's hundred thousand prefixes are parsed once.
_prefix = lru_cache(maxsize=1 << 20)(ip_network)


def _mapping(private: int, public: int) -> NatMapping:
    return NatMapping(IPv4Address(private), IPv4Address(public))


def _forward(pk: int, protocol: str, public: int, public_port: int, private: int, private_port: int) -> Forward:
    return Forward(pk, Protocol(protocol), IPv4Address(public), public_port, IPv4Address(private), private_port)


def _ban(pk: int, prefix: str, comment: str, expires: int) -> Ban:
    return Ban(pk, _prefix(prefix), comment, expires)


def _addresses(touched: Keys) -> dict[str, list[str]]:
    return {"addresses": [str(address) for address in touched.addresses]}


def _prefixes(touched: Keys) -> dict[str, list[str]]:
    return {"prefixes": [str(prefix) for prefix in touched.prefixes]}


def _ports(touched: Keys) -> dict[str, list[Any]]:
    protocols, publics, ports = zip(*touched.ports, strict=True) if touched.ports else ((), (), ())
    return {"protocols": [str(each) for each in protocols], "publics": [str(each) for each in publics], "ports": list(ports)}


def _bans(touched: Keys) -> dict[str, list[str]]:
    return {"bans": [str(prefix) for prefix in touched.bans]}


type Reading = tuple[str, str, Callable[[Keys], dict[str, list[Any]]], Callable[..., object]]

# Of each kind of object: the query, what restricts it to those touched, that restriction's parameters, and a row's value.
KINDS: dict[str, Reading] = {
    "addresses": (ADDRESSES, ONLY_ADDRESSES, _addresses, IPv4Address),
    "prefixes": (PREFIXES, ONLY_PREFIXES, _prefixes, _prefix),
    "mappings": (MAPPINGS, ONLY_ADDRESSES, _addresses, _mapping),
    "forwards": (FORWARDS, ONLY_FORWARDS, _ports, _forward),
    "bans": (BANS, ONLY_BANS, _bans, _ban),
}


def _gateway(row: Gateway) -> GatewayPolicy:
    return GatewayPolicy(
        row.name,
        Interfaces(row.lan, row.wan, row.management, row.sync),
        Management(tuple(map(ip_network, map(str, row.management_networks))), row.management_port),
        _probe(row),
    )


def _probe(row: Gateway) -> Probe | None:
    return Probe(row.probe_interface, row.probe_source4, row.probe_public4, row.probe_source6) if row.probe_interface else None
