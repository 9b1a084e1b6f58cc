"""Heartbeats by host, for portals whose programs run on several: which host is silent or cut off while others do the work.

A host is a machine, or a container, with a name of its own (`NETZWART_HOST_NAME`). Its programs write a row for each of their roles,
and remove it when they are stopped on purpose: an old row belongs to a program that died, or was cut off from the database.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from apps.lib.web.frame_reads import read_with_frame
from apps.operations.models import HostHeartbeat, ProcessRole
from apps.operations.registry import delete_oldest_batch

KEPT: Final = timedelta(days=7)
"""After which a silent host is forgotten."""
SSH_ROLES: Final = frozenset({ProcessRole.WORKER, ProcessRole.COLLECTOR})
"""Roles that reach gateways."""
NO_KEY: Final = "none"
MARK: Final = 16  # characters of a digest: enough to tell a few keys apart
ALIVE: Final = """
    INSERT INTO operations_hostheartbeat AS beat (role, host, started, seen, broker_error, broker_failing, secret_mark, ssh_mark)
    VALUES (%(role)s, %(host)s, %(started)s, now(), %(error)s, CASE WHEN %(error)s <> '' THEN now() END, %(secret)s, %(ssh)s)
    ON CONFLICT (role, host) DO UPDATE SET started = excluded.started, seen = now(), broker_error = excluded.broker_error,
        broker_failing = CASE WHEN %(error)s <> '' THEN coalesce(beat.broker_failing, now()) END,
        secret_mark = excluded.secret_mark, ssh_mark = excluded.ssh_mark
"""


class HostFaultKind(StrEnum):
    """Kind of a host's fault, while its roles are done elsewhere."""

    SILENT = "silent"  # its programs give no sign of life
    BROKER = "broker"  # they are alive but cannot write to the broker


@dataclass(frozen=True)
class HostFault:
    """Programs of one host that do not do their work, while the same programs of another host do. since: the first of them."""

    host: str
    kind: HostFaultKind
    roles: tuple[ProcessRole, ...]
    since: datetime
    error: str = ""


@dataclass(frozen=True)
class KeyDifference:
    """Hosts that have different keys of one kind. hosts: one of each key, by name. missing: hosts that have none."""

    is_ssh: bool
    hosts: tuple[str, ...]
    missing: tuple[str, ...]


def record_host_alive(role: ProcessRole, started: datetime, broker_error: str) -> None:
    """Record a sign of life of this host for the role."""
    secret, ssh = compute_secret_mark(), compute_ssh_mark() if role in SSH_ROLES else ""
    given = {"role": role.value, "host": settings.HOST_NAME, "error": broker_error, "secret": secret, "ssh": ssh}
    with connection.cursor() as cursor:
        cursor.execute(ALIVE, {**given, "started": started})


def forget_process(roles: Collection[ProcessRole], started: datetime) -> None:
    """Remove the rows of a process that ends on purpose, unless another one has taken its place on this host."""
    HostHeartbeat.objects.filter(role__in=roles, host=settings.HOST_NAME, started=started).delete()


def forget_host(host: str) -> int:
    """Remove a host that is gone. Returns how many of its programs were known."""
    return HostHeartbeat.objects.filter(host=host).delete()[0]


def prune_hosts(now: datetime, at_most: int) -> int:
    """Forget the programs that have been silent for a week."""
    return delete_oldest_batch(HostHeartbeat.objects.filter(seen__lt=now - KEPT), "seen", at_most)


@read_with_frame
def _list_rows() -> QuerySet[HostHeartbeat]:
    """Return all rows: a few for each host. Each page of staff needs them several times."""
    return HostHeartbeat.objects.order_by("host", "role")


def list_hosts() -> dict[str, list[str]]:
    """Return the names of the hosts by role."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in _list_rows():
        found[row.role].append(row.host)
    return found


def list_host_faults(done: Collection[ProcessRole], now: datetime, silent: timedelta) -> list[HostFault]:
    """Return the faults of hosts. done: roles that some host does; the others are told as such. silent: age of an old sign of life."""
    found: dict[tuple[str, HostFaultKind], list[HostHeartbeat]] = defaultdict(list)
    for row in _list_rows():
        if row.role not in done:
            continue
        if now - row.seen > silent:
            found[row.host, HostFaultKind.SILENT].append(row)
        elif row.broker_failing:
            found[row.host, HostFaultKind.BROKER].append(row)
    return [_build_fault(host, kind, rows) for (host, kind), rows in found.items()]


def _build_fault(host: str, kind: HostFaultKind, rows: Sequence[HostHeartbeat]) -> HostFault:
    since = min(row.seen if kind is HostFaultKind.SILENT else row.broker_failing or row.seen for row in rows)
    return HostFault(host, kind, tuple(ProcessRole(row.role) for row in rows), since, rows[0].broker_error)


def list_key_differences(now: datetime, silent: timedelta) -> list[KeyDifference]:
    """Return the kinds of keys in which hosts that are alive differ."""
    alive = [row for row in _list_rows() if row.seen >= now - silent]
    secrets = {row.secret_mark: row.host for row in reversed(alive)}
    keys = {row.ssh_mark: row.host for row in reversed(alive) if row.ssh_mark}
    missing = tuple(sorted({row.host for row in alive if row.ssh_mark == NO_KEY}))
    differences = [KeyDifference(False, tuple(sorted(secrets.values())), ())] if len(secrets) > 1 else []
    if len(keys) > 1:
        differences.append(KeyDifference(True, tuple(sorted(host for mark, host in keys.items() if mark != NO_KEY)), missing))
    return differences


def compute_secret_mark() -> str:
    """Return what tells one NETZWART_SECRET_KEY from another, and nothing about it."""
    return salted_hmac("netzwart.host", "secret", secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()[:MARK]


def compute_ssh_mark() -> str:
    """Return what tells one ssh key of the portal from another; NO_KEY if this host has none that it may read."""
    try:
        return hashlib.sha256(Path(settings.SSH_KEY).read_bytes()).hexdigest()[:MARK]
    except OSError:
        return NO_KEY
