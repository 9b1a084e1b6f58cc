"""Reads rows into policies: the only bridge between the ORM and `firewall.policy`.

One consistent read of everything that a group's gateways need, or of what changed since an earlier read. Returns a policy per
gateway, the moment of the read in the database's time, and the transactions that it saw, so that callers can tell later whether
it includes a given change.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.deployments.desired_state import database_clock, gateway_reader
from apps.deployments.desired_state.changed_objects import find_touched_objects
from apps.deployments.rule_kinds.registry import KINDS
from apps.lib.database.consistent_read import hold_read_snapshot
from apps.lib.interpreter import pause_garbage_collector
from apps.network.models import Gateway, GatewayGroup
from firewall.policy import GatewayGroupSettings, Policy, TouchedKeys


@dataclass(frozen=True, slots=True)
class ReadMoment:
    """Moment of a read: `seen` is PostgreSQL's pg_snapshot, `at` the database's clock, `origin` identifies the database and its timeline.

    A database that was restored from a dump or to an earlier point has another origin, or its transaction ids start anew.
    """

    seen: str
    at: datetime
    origin: str

    @property
    def now(self) -> int:
        """Unix seconds, rounded down."""
        return int(self.at.timestamp())

    def precedes(self, other: "ReadMoment") -> bool:
        """True if `other` is a later read of the same timeline."""
        return self.origin == other.origin and _parse_next_transaction(self.seen) <= _parse_next_transaction(other.seen)


def _parse_next_transaction(seen: str) -> int:
    """Return the first transaction that had not begun, from "xmin:xmax:running" (PostgreSQL manual, "pg_snapshot")."""
    return int(seen.split(":")[1])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Policies by gateway id, as of one moment."""

    moment: ReadMoment
    policies: dict[int, Policy]


@dataclass(frozen=True, slots=True)
class IncrementalSnapshot(Snapshot):
    """Changes since an earlier moment: `touched` names the objects; the policies contain those of them that still exist."""

    touched: TouchedKeys


# By field of the policy; addresses and prefixes come with their owners.
READERS = {name: reader for kind in KINDS.values() for name, reader in kind.readers.items()}

MOMENT = """
    SELECT pg_current_snapshot()::text, clock_timestamp(), concat_ws(' ', system_identifier,
        (SELECT oid FROM pg_database WHERE datname = current_database()), 'deployments_touched'::regclass::oid,
        left(pg_walfile_name(pg_current_wal_lsn()), 8))
    FROM pg_control_system()
"""


def take_snapshot(group: GatewayGroup, at: datetime | None = None) -> Snapshot:
    """Read everything that the group's gateways need, as of one moment. at: as if it were then.

    Must not be called within a transaction: it opens its own, which must see nothing newer.
    """
    with _freeze_moment(at) as moment:
        return _read_everything(group, moment, _read_ground(group))


def take_changes(group: GatewayGroup, earlier: ReadMoment, at: datetime | None = None) -> IncrementalSnapshot | None:
    """Read what changed since an earlier moment, by transactions that it did not see or by time alone; like `take_snapshot`.

    Return None when everything has to be read: too much was touched, or the earlier moment is not in this database's past.
    """
    with _freeze_moment(at) as moment:
        return _read_changes(group, earlier, moment, _read_ground(group))


def take_snapshot_with_changes(
    group: GatewayGroup, earlier: ReadMoment, at: datetime | None = None
) -> tuple[Snapshot, IncrementalSnapshot | None]:
    """Read everything, and separately what changed, at one moment."""
    with _freeze_moment(at) as moment:
        ground = _read_ground(group)
        return _read_everything(group, moment, ground), _read_changes(group, earlier, moment, ground)


@contextmanager
def _freeze_moment(at: datetime | None) -> Iterator[ReadMoment]:
    """Open a snapshot and yield its moment, which is later than any row it sees: the transaction's own `now()` may be earlier."""
    with hold_read_snapshot(durable=True), connection.cursor() as cursor:
        before = time.monotonic()
        cursor.execute(MOMENT)
        seen, clock, origin = cursor.fetchone()
        database_clock.record_database_time(clock, before)
        yield ReadMoment(seen, at or clock, origin)


@dataclass(frozen=True, slots=True)
class _Ground:
    """The gateways of a group and the settings that they share: read whole each time, and once for both ways of a read."""

    gateways: list[Gateway]
    settings: GatewayGroupSettings


def _read_ground(group: GatewayGroup) -> _Ground:
    return _Ground(gateway_reader.read_gateways(group.pk), gateway_reader.read_group_settings(group))


@pause_garbage_collector()
def _read_everything(group: GatewayGroup, moment: ReadMoment, ground: _Ground) -> Snapshot:
    return Snapshot(moment, _read_policies(group, moment, ground, None))


def _read_changes(group: GatewayGroup, earlier: ReadMoment, moment: ReadMoment, ground: _Ground) -> IncrementalSnapshot | None:
    touched = find_touched_objects(earlier.seen, earlier.at, moment.at) if earlier.precedes(moment) else None
    if touched is None:
        return None
    return IncrementalSnapshot(moment, _read_policies(group, moment, ground, touched), touched)


def _read_policies(group: GatewayGroup, moment: ReadMoment, ground: _Ground, touched: TouchedKeys | None) -> dict[int, Policy]:
    """Return policies by gateway id, of the touched objects only, or of all if `touched` is None."""
    objects = {kind: _read_objects(group, moment, kind, touched) for kind in READERS}
    objects["owners"] = objects["addresses"] + objects["prefixes"]
    objects |= {kind: tuple(owner.prefix for owner in objects[kind]) for kind in ("addresses", "prefixes")}
    probes = filter(None, map(gateway_reader.build_probe_mapping, ground.gateways))
    objects["mappings"] += tuple(each for each in probes if touched is None or each.private in touched.addresses)
    return {row.pk: Policy(gateway=gateway_reader.build_gateway(row, ground.settings), **objects) for row in ground.gateways}


def _read_objects(group: GatewayGroup, moment: ReadMoment, kind: str, touched: TouchedKeys | None) -> tuple[Any, ...]:
    query, only, parameters, value = READERS[kind]
    where = {"group": group.pk, "at": moment.at, "second": moment.at.replace(microsecond=0)}
    if touched is None:
        return tuple(value(*row) for row in _fetch_rows(query.format(only=""), where))
    restricted = parameters(touched)
    return tuple(value(*row) for row in _fetch_rows(query.format(only=only), where | restricted)) if any(restricted.values()) else ()


def _fetch_rows(query: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
