"""Check before and after an upgrade: agents, migrations that are to come, the last backup, and the database's disk.

It is run with the new release's code while the database still has the old schema, so it names each column that it reads.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from apps.gateways.agent_texts import get_own_release
from apps.lib.database import schema_snapshot
from apps.lib.database.migration_rules import find_long_locks
from apps.lib.ui import formats
from apps.network.models import Gateway
from apps.operations.models import BackupNote
from apps.operations.portal_health.disk import read_disk
from apps.operations.portal_health.figures import DiskSpace

FRESH = timedelta(hours=24)
"""Age of a backup up to which an upgrade may begin without another one."""


@dataclass(frozen=True, slots=True)
class UpgradeFinding:
    """A sentence about one thing. is_open: something is to be done about it; the sentence says what."""

    text: str
    is_open: bool = False


def list_findings(now: datetime) -> list[UpgradeFinding]:
    """Return what was found, in the order in which to deal with it."""
    return [_check_backup(now), judge_disk(read_disk(), _measure_database()), *_check_migrations(), *_check_agents()]


def _check_backup(now: datetime) -> UpgradeFinding:
    at = BackupNote.objects.values_list("at", flat=True).first()
    if at is None:
        return UpgradeFinding("No backup was noted. Make one: “manage.py backup DIR” (docs/backup.md).", is_open=True)
    if now - at > FRESH:
        return UpgradeFinding(f"The last backup is of {formats.format_full_time(at)}. Make another one first.", is_open=True)
    return UpgradeFinding(f"The last backup is of {formats.format_full_time(at)}.")


def _measure_database() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def judge_disk(space: DiskSpace | None, size: int) -> UpgradeFinding:
    """Judge whether the disk has room for a database of this size (octets): a migration that rewrites a table needs it once more.

    space: None if it cannot be seen.
    """
    if space is None:
        return UpgradeFinding("The database's disk cannot be seen from here: look there whether it has room.", is_open=True)
    words = f"The database has {formats.format_volume(size)}; {formats.format_volume(space.free)} of its disk are free."
    tight = space.free < size
    return UpgradeFinding(f"{words} Make room for once its size before you migrate." if tight else words, is_open=tight)


def _check_migrations() -> Iterator[UpgradeFinding]:
    executor = MigrationExecutor(connection)
    coming = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    with connection.cursor() as cursor:
        unknown = schema_snapshot.list_unknown_migrations(cursor)
    if unknown:
        yield UpgradeFinding(schema_snapshot.explain_unknown_migrations(unknown), is_open=True)
    elif not coming:
        yield UpgradeFinding("The database has all migrations of this release.")
    for each in coming:
        yield _judge_migration(each)


def _judge_migration(migration: Migration) -> UpgradeFinding:
    source = Path(inspect.getfile(type(migration))).read_text()
    name, locks = f"{migration.app_label}.{migration.name}", find_long_locks(migration.app_label, source)
    if not locks:
        return UpgradeFinding(f"{name} is to come; it locks no table for long. Run “manage.py migrate”.", is_open=True)
    tables = "; ".join(each.partition(":")[0] for each in locks)
    return UpgradeFinding(f"{name} is to come, and reads all rows of a large table under a lock ({tables}). Run it at night.", is_open=True)


def _check_agents() -> Iterator[UpgradeFinding]:
    ours = get_own_release()
    rows = Gateway.objects.order_by("name").values_list("name", "status__agent", "status__unreachable_since")
    for name, agent, away in rows:
        yield _judge_agent(name, agent or "", ours, is_away=away is not None)


def _judge_agent(name: str, agent: str, ours: str, *, is_away: bool) -> UpgradeFinding:
    if not agent:
        return UpgradeFinding(f"{name} has not told its agent's version yet: “manage.py gateway check {name}” asks it.", is_open=True)
    if agent == ours:
        return UpgradeFinding(f"{name} has this release's agent, {agent}.")
    words = f"{name} has agent {agent}, this release's is {ours}: install it after the portal (docs/upgrade.md)."
    return UpgradeFinding(f"{words} It does not answer at present." if is_away else words, is_open=True)
