"""Finds the objects that changed since an earlier read: those that triggers noted, and those that began or ended by time alone.

Triggers (migrations/deployments/0001) note ids and keys only, so that a write costs almost nothing more. This module resolves an id: the
addresses of a member, the forwards of a holding, the bans of a list. Called within the snapshot that reads the objects' current values.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from django.db import connection

from apps.deployments.desired_state.readers.pinholes import build_hole
from firewall.policy import Hole, PolicyKeys, Port, Service, TransportProtocol

MOST = 4000  # objects to look up; beyond this number, reading everything is as fast
KEPT = "1 hour"
PRUNED_AT_ONCE = 20_000

# Notes of transactions that the earlier snapshot did not see. A note "pruned" stands for notes that were already deleted; its key
# is the last transaction of those. A reader that saw all transactions up to that one, or the pruning itself, misses nothing.
NOTED = """
    SELECT DISTINCT kind, key FROM deployments_touched
    WHERE xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, %(seen)s::pg_snapshot)
        AND (kind <> 'pruned' OR key::xid8 >= pg_snapshot_xmin(%(seen)s::pg_snapshot))
"""
FORWARD = "protocol || ' ' || host(public) || ' ' || public_port || ' ' || ports"
PINHOLE = "host(address) || ' ' || protocol || ' ' || port || ' ' || ports"
BETWEEN = "lower(valid) BETWEEN %(since)s AND %(until)s OR upper(valid) BETWEEN %(since)s AND %(until)s"
TOUCHED = f"""
    ({NOTED} LIMIT {MOST} + 1)
    UNION ALL SELECT 'holding', id::text FROM network_holding WHERE {BETWEEN}
    UNION ALL SELECT 'holding', holding_id::text FROM nat_natmapping WHERE {BETWEEN}
    UNION ALL SELECT 'forward', {FORWARD} FROM nat_portforward WHERE {BETWEEN}
    UNION ALL SELECT 'pinhole', {PINHOLE} FROM nat_pinhole WHERE {BETWEEN}
    UNION ALL SELECT 'member', member_id::text FROM bans_block WHERE {BETWEEN}
    UNION ALL SELECT 'member', member_id::text FROM traffic_ratelimit WHERE {BETWEEN}
    UNION ALL SELECT 'ban', prefix::text FROM bans_ban WHERE expires BETWEEN %(since)s AND %(until)s
    UNION ALL SELECT 'allowed', prefix::text FROM bans_allowentry WHERE expires BETWEEN %(since)s AND %(until)s
    LIMIT {MOST} + 1
"""  # noqa: S608 - constants
TARIFFS = f"SELECT id::text FROM members_member WHERE tariff_id = ANY(%s::bigint[]) LIMIT {MOST} + 1"  # noqa: S608 - a constant
HOLDINGS = "SELECT id, prefix::text FROM network_holding WHERE id = ANY(%s::bigint[]) OR member_id = ANY(%s::bigint[])"
FORWARDS = f"SELECT {FORWARD} FROM nat_portforward WHERE holding_id = ANY(%s)"  # noqa: S608 - a constant
PINHOLES = f"SELECT {PINHOLE} FROM nat_pinhole WHERE holding_id = ANY(%s)"  # noqa: S608 - a constant
BANS = f"SELECT DISTINCT prefix::text FROM bans_ban WHERE list_id = ANY(%s::bigint[]) LIMIT {MOST} + 1"  # noqa: S608 - a constant
PRUNE = """
    WITH old AS (
        DELETE FROM deployments_touched WHERE id IN (
            SELECT id FROM deployments_touched WHERE at < statement_timestamp() - %s::interval ORDER BY xid LIMIT %s
        ) RETURNING xid
    )
    INSERT INTO deployments_touched (kind, key) SELECT 'pruned', max(xid::text::numeric) FROM old HAVING count(*) > 0
"""


def find_touched_objects(seen: str, since: datetime, until: datetime) -> PolicyKeys | None:
    """Return the objects that may differ from what the snapshot `seen` saw at `since`. None when everything has to be read."""
    moments = {"seen": seen, "since": min(since, until), "until": max(since, until)}  # the clock may have been set back
    notes = _fetch_rows(TOUCHED, moments)
    of: dict[str, set[str]] = defaultdict(set)
    for kind, key in notes:
        of[kind].add(key)
    if len(notes) > MOST or of.keys() & {"everything", "pruned"}:
        return None
    _add_dependents(of)
    if sum(map(len, of.values())) > MOST:
        return None
    networks = [ip_network(prefix) for prefix in of["address"]]
    return PolicyKeys(
        {network.network_address for network in networks if isinstance(network, IPv4Network)},
        {network for network in networks if isinstance(network, IPv6Network)},
        {port for key in of["forward"] for port in _iter_ports(*key.split())},
        {ip_network(prefix) for prefix in of["ban"]},
        {_build_hole(*key.split()) for key in of["pinhole"]},
        {ip_network(prefix) for prefix in of["allowed"]},
        {_build_service(*key.split()) for key in of["listener"]},
    )


def _add_dependents(of: dict[str, set[str]]) -> None:
    """Add what is touched indirectly: members of tariffs, addresses of holdings and members, their forwards and pinholes, bans of lists."""
    if of["tariff"]:
        of["member"] |= _get_first_column(_fetch_rows(TARIFFS, [list(of["tariff"])]))
    if of["holding"] or of["member"]:
        holdings = _fetch_rows(HOLDINGS, [list(of["holding"]), list(of["member"])])
        of["address"] |= {prefix for _pk, prefix in holdings}
        of["forward"] |= _get_first_column(_fetch_rows(FORWARDS, [[pk for pk, _prefix in holdings]]))
        of["pinhole"] |= _get_first_column(_fetch_rows(PINHOLES, [[pk for pk, _prefix in holdings]]))
    if of["list"]:
        of["ban"] |= _get_first_column(_fetch_rows(BANS, [list(of["list"])]))


def _get_first_column(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    return {row[0] for row in rows}


def _iter_ports(protocol: str, public: str, first: str, count: str = "1") -> Iterator[Port]:
    """Yield the ports of a note. A note written before port ranges existed has no count."""
    of, address = TransportProtocol(protocol), IPv4Address(public)
    return ((of, address, port) for port in range(int(first), int(first) + int(count)))


def _build_hole(address: str, protocol: str, port: str, ports: str) -> Hole:
    return build_hole(address, protocol, int(port), int(ports))


def _build_service(protocol: str, address: str, port: str) -> Service:
    return TransportProtocol(protocol), ip_address(address), int(port)


def prune_notes() -> None:
    """Delete old notes, a bounded number at a time. A reader whose last snapshot is older than these has to read everything."""
    with connection.cursor() as cursor:
        cursor.execute(PRUNE, [KEPT, PRUNED_AT_ONCE])


def _fetch_rows(query: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
