"""From rows to policies: the only bridge between the ORM and `firewall.policy`.

One consistent read of everything a group's gateways need. Comes out: a policy per gateway, the moment of the reading in the
database's time, and which transactions it saw, so that anybody can ask later whether a given change was in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, ip_network
from typing import Any

from django.db import connection, transaction

from apps.network.models import Gateway, GatewayGroup
from firewall.policy import Ban, Forward, Interfaces, Management, NatMapping, Policy, Probe, Protocol
from firewall.policy import Gateway as GatewayPolicy


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the database asked for at one moment. `now`: Unix seconds; `seen`: PostgreSQL's pg_snapshot; policies by gateway id."""

    seen: str
    now: int
    policies: dict[int, Policy]


HELD = """
    SELECT {columns} FROM network_holding h JOIN members_member m ON m.id = h.member_id {join}
    WHERE h.group_id = %(group)s AND m.state = 'active' AND h.valid @> %(at)s::timestamptz AND {where} ORDER BY {order}
"""
ADDRESSES = HELD.format(columns="h.prefix - '0.0.0.0'::inet", join="", where="h.kind = 'private4'", order="h.prefix")
PREFIXES = HELD.format(columns="h.prefix", join="", where="h.kind = 'prefix6'", order="h.prefix")
MAPPINGS = HELD.format(
    columns="h.prefix - '0.0.0.0'::inet, n.public - '0.0.0.0'::inet",
    join="JOIN nat_natmapping n ON n.holding_id = h.id",
    where="n.valid @> %(at)s::timestamptz",
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
    WHERE l.enabled AND (b.expires IS NULL OR b.expires > %(at)s::timestamptz)
    GROUP BY b.prefix ORDER BY b.prefix
"""


def take(group: GatewayGroup) -> Snapshot:
    """Read everything the group's gateways need, as it was at one moment.

    Must not be called within a transaction: it needs one of its own that sees nothing newer.
    """
    with _one_moment() as (seen, at):
        common = _common(group, at)
        gateways = list(Gateway.objects.filter(group=group).order_by("name"))
    common["mappings"] += tuple(NatMapping(each.probe_source4, each.probe_public4) for each in gateways if each.probe_source4)
    return Snapshot(seen, int(at.timestamp()), {gateway.pk: Policy(gateway=_gateway(gateway), **common) for gateway in gateways})


@contextmanager
def _one_moment() -> Iterator[tuple[str, datetime]]:
    """The snapshot and a time that is later than any row it sees: the transaction's own `now()` may be earlier."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_current_snapshot()::text, clock_timestamp()")
        seen, at = cursor.fetchone()
        yield seen, at


# Most of what is read was read before: a feed's hundred thousand prefixes are parsed once.
_prefix = lru_cache(maxsize=1 << 20)(ip_network)


def _common(group: GatewayGroup, at: datetime) -> dict[str, Any]:
    return {
        "addresses": tuple(IPv4Address(address) for (address,) in _rows(ADDRESSES, group, at)),
        "prefixes": tuple(_prefix(prefix) for (prefix,) in _rows(PREFIXES, group, at)),
        "mappings": tuple(NatMapping(IPv4Address(private), IPv4Address(public)) for private, public in _rows(MAPPINGS, group, at)),
        "forwards": tuple(_forward(*row) for row in _rows(FORWARDS, group, at)),
        "bans": tuple(Ban(pk, _prefix(prefix), comment, expires) for pk, prefix, comment, expires in _rows(BANS, group, at)),
    }


def _rows(query: str, group: GatewayGroup, at: datetime) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, {"group": group.pk, "at": at})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _forward(pk: int, protocol: str, public: int, public_port: int, private: int, private_port: int) -> Forward:
    return Forward(pk, Protocol(protocol), IPv4Address(public), public_port, IPv4Address(private), private_port)


def _gateway(row: Gateway) -> GatewayPolicy:
    return GatewayPolicy(
        row.name,
        Interfaces(row.lan, row.wan, row.management, row.sync),
        Management(tuple(map(ip_network, map(str, row.management_networks))), row.management_port),
        _probe(row),
    )


def _probe(row: Gateway) -> Probe | None:
    return Probe(row.probe_interface, row.probe_source4, row.probe_public4, row.probe_source6) if row.probe_interface else None
