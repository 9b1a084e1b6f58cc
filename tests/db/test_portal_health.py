"""Health of the portal: what PostgreSQL and Redis tell is read, stored and judged; page, dashboard and metrics say what it showed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from celery import Celery
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from redis import Redis

from apps.desk.needs.collection import list_attention_items
from apps.lib.message_broker import build_broker_url
from apps.metrics.exposition import render_metrics
from apps.operations.portal_health import database, disk, statements
from apps.operations.portal_health.broker import read_broker
from apps.operations.portal_health.collection import read_figures, read_portal, store_portal_reading
from apps.operations.portal_health.figures import DiskSpace, SlowStatement
from apps.operations.portal_health.models import BackupNote, DatabaseDay, PortalFinding, PortalReading
from apps.operations.portal_health.partition_cover import read_partition_covers
from apps.operations.portal_health.selectors import list_portal_findings
from apps.operations.retention import prune_backup_notes
from apps.traffic.partitions import ensure_future_partitions
from tests import factories
from tests.db.page_client import signed_in, text
from tests.portal_situations import build_figures
from tests.whole.worker import broker

ROLES = {"celery": "worker", "readings": "collector"}
LIMIT = timedelta(hours=48)
PAGE = "/system/health/"
FULL: dict[str, Any] = {"disk": DiskSpace(100 << 30, 1 << 30)}


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def redis(settings: LazySettings) -> Iterator[str]:
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        settings.REDIS_URL = url
        yield url


def store(ago: timedelta = timedelta(0), **changed: Any) -> None:
    store_portal_reading(build_figures(**changed), LIMIT, timezone.now() - ago)


def list_needs() -> list[tuple[str, str]]:
    return [(each.state.kind.value, each.what) for each in list_attention_items(timezone.now()) if each.key.startswith("portal-")]


def connect() -> psycopg.Connection[Any]:
    given = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    return psycopg.connect(**{name: given[name] for name in names if given.get(name)}, application_name="another")


def test_a_reading_of_the_real_database_is_stored_and_shown(mara: Client, redis: str) -> None:
    ensure_future_partitions(timezone.now())
    read_portal(ROLES, LIMIT, timezone.now())
    reading = PortalReading.objects.get()
    figures = reading.parse_figures()
    assert figures and figures.database.octets > 1 << 20 and figures.database.connections < figures.database.most_connections
    assert DatabaseDay.objects.get().octets == figures.database.octets
    assert not PortalFinding.objects.exists()
    page = text(mara.get(PAGE))
    assert "No fault was found in the portal’s database" in page and "pg_stat_statements" in page


def test_the_size_of_a_day_is_its_largest(network: factories.Network) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    for hours, octets in ((0, 5), (1, 9), (2, 7), (12, 8)):
        levels = build_figures().database.__class__(octets, 1, 10, 1, 1, "15")
        store_portal_reading(build_figures(database=levels), LIMIT, noon + timedelta(hours=hours))
    assert list(DatabaseDay.objects.values_list("octets", flat=True)) == [9, 8]


def test_a_fault_is_a_need_with_its_cure_until_a_reading_no_longer_shows_it(mara: Client) -> None:
    store(ago=timedelta(minutes=3))
    assert list_needs() == []
    store(ago=timedelta(minutes=2), **FULL)
    began = PortalFinding.objects.get().since
    store(ago=timedelta(minutes=1), **FULL)
    assert list_needs() == [("bad", "The disk of the database is nearly full")]
    assert PortalFinding.objects.get().since == began
    assert "Enlarge the disk" in text(mara.get("/"))
    assert "The disk of the database is nearly full." in text(mara.get(PAGE))
    store()
    assert list_needs() == [] and not PortalFinding.objects.exists()


def test_an_old_reading_says_nothing_but_its_time(mara: Client) -> None:
    store(ago=timedelta(minutes=6), **FULL)
    assert list_portal_findings(timezone.now()) == []
    assert list_needs() == []
    page = text(mara.get(PAGE))
    assert "No reading since" in page and "No fault" not in page


def test_a_reading_of_another_release_is_no_reading(mara: Client) -> None:
    PortalReading.objects.create(at=timezone.now(), figures={"is": "PortalFigures"})
    assert "No reading yet" in text(mara.get(PAGE))
    assert "\nnetzwart_database_size_bytes " not in render_metrics(timezone.now()).decode()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_shows_what_is_known_and_refreshes_only_that(mara: Client, language: str) -> None:
    today = timezone.now().date()
    for days in range(40, 0, -1):
        DatabaseDay.objects.create(day=today - timedelta(days=days), octets=(3 << 30) - days * 50_000_000)
    store()
    page = text(mara.get(PAGE, headers={"Accept-Language": language}))
    words = {"en": ("grows by", "full on", "Partitions until"), "de": ("wächst um", "voll am", "Partitionen bis")}[language]
    assert all(each in page for each in words) and 'id="database-size"' in page
    part = text(mara.get(PAGE, headers={"HX-Request": "true", "HX-Target": "now"}))
    assert 'hx-swap-oob="true"' in part and 'id="database-size"' not in part


def test_a_member_does_not_see_the_page(db: None) -> None:
    assert signed_in(factories.user(roles=["member"])).get(PAGE).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_a_transaction_of_another_program_is_found_without_the_values_of_its_statement() -> None:
    with connect() as other:
        other.execute("SELECT 'Mara Lindqvist', 42")
        found = database.find_oldest_transaction()
    assert found and (found.program, found.state, found.statement) == ("another", "idle in transaction", "SELECT ?, …")


@pytest.mark.django_db(transaction=True)
def test_dead_rows_are_counted_by_table_until_vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE filled (number int)")
        try:
            cursor.execute("INSERT INTO filled SELECT generate_series(1, 3000)")
            cursor.execute("DELETE FROM filled WHERE number <= 2000")
            cursor.execute("SELECT pg_stat_force_next_flush()")
            [before] = [each for each in database.read_tables() if each.name == "filled"]
            cursor.execute("VACUUM filled")
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute("SELECT n_dead_tup, last_vacuum IS NOT NULL FROM pg_stat_user_tables WHERE relname = 'filled'")
            after = cursor.fetchone()
        finally:
            cursor.execute("DROP TABLE filled")
    assert (before.dead, before.live, before.vacuumed) == (2000, 1000, None)
    assert after == (0, True)


def test_partitions_that_the_portal_makes_reach_two_days_ahead(db: None) -> None:
    now = timezone.now()
    ensure_future_partitions(now)
    covers = {each.table: each.seconds for each in read_partition_covers(now)}
    assert len(covers) == 6 and min(covers.values()) >= 2 * 86_400
    assert min(each.seconds for each in read_partition_covers(now + timedelta(days=400))) == 0


def test_statements_are_read_from_the_extensions_view_or_the_reason_is_said(db: None) -> None:
    assert statements.read_statements() in ((None, "not installed"), (None, "refused"))
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP VIEW pg_stat_statements AS SELECT oid AS dbid, 4::bigint AS calls, 12.5::float AS total_exec_time, "
            "3.125::float AS mean_exec_time, 'SELECT $1'::text AS query FROM pg_database"
        )
    assert statements.read_from_schema("pg_temp") == (SlowStatement(4, 12_500, 3_125, "SELECT $1"),)


def test_the_disk_is_known_where_it_is_named_and_unknown_where_it_is_not_seen(db: None, settings: LazySettings, tmp_path: Path) -> None:
    settings.DATABASE_DISK = str(tmp_path)
    found = disk.read_disk()
    assert found and found.octets >= found.free > 0
    settings.DATABASE_DISK = str(tmp_path / "elsewhere")
    assert disk.read_disk() is None


def test_queues_tell_how_much_waits_and_for_how_long(redis: str) -> None:
    publisher = Celery("test", broker=build_broker_url(redis), set_as_current=False)
    for _number in range(3):
        publisher.send_task("workers.nobody", queue="readings", ignore_result=True)
    found = read_broker(ROLES, frozenset({"worker"}), timezone.now() + timedelta(seconds=90))
    assert [(each.queue, each.messages, each.is_served) for each in found.queues] == [("celery", 0, False), ("readings", 3, True)]
    assert found.queues[0].oldest is None and found.queues[1].oldest is not None and found.queues[1].oldest >= 89
    assert found.memory > 0 and found.error == ""
    with Redis.from_url(redis) as client:
        client.lpush("celery", "{}")
    assert read_broker(ROLES, frozenset(), timezone.now()).queues[0].oldest is None, "written by a release that did not tell"


def test_a_broker_that_does_not_answer_is_said_and_everything_else_is_read(mara: Client) -> None:
    store_portal_reading(read_figures(ROLES, timezone.now()), LIMIT, timezone.now())
    page = text(mara.get(PAGE))
    assert "Redis does not answer" in page and "Connections to it" in page


def test_a_backup_is_noted_with_its_size_and_warned_of_when_it_is_too_old(mara: Client, tmp_path: Path) -> None:
    store()
    assert "None was noted." in text(mara.get(PAGE)) and list_needs() == []
    dump = tmp_path / "netzwart.dump"
    dump.write_bytes(b"x" * 1234)
    call_command("note_backup", "nas:/backup/netzwart.dump", file=dump)
    assert BackupNote.objects.get().octets == 1234
    assert "nas:/backup/netzwart.dump" in text(mara.get(PAGE))
    BackupNote.objects.update(at=timezone.now() - timedelta(hours=49))
    store(ago=timedelta(minutes=1))
    assert list_needs() == [], "one reading may come right after a start"
    store()
    assert list_needs() == [("warn", "The last backup of the database is too old")]
    call_command("note_backup", "nas:/backup", file=tmp_path)
    store()
    assert list_needs() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 0}, "is empty"),
        ({"file": Path("nowhere/at/all")}, "cannot be read: No such file or directory"),
        ({"at": "yesterday"}, "is not a time with its zone"),
        ({"at": "2026-07-01T12:00:00"}, "is not a time with its zone"),
        ({"at": "2999-01-01T00:00:00Z"}, "is in the future"),
        ({"size": -1}, "is a number of octets"),
    ],
)
def test_what_is_no_backup_is_refused(db: None, given: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("note_backup", "nas", **given)
    assert not BackupNote.objects.exists()


def test_the_last_backup_is_never_forgotten(db: None) -> None:
    for days in (900, 800):
        BackupNote.objects.create(at=timezone.now() - timedelta(days=days), place=str(days))
    assert prune_backup_notes(timezone.now(), 10) == 1
    assert BackupNote.objects.get().place == "800"


def test_metrics_tell_levels_queues_backups_and_faults(db: None) -> None:
    BackupNote.objects.create(at=timezone.now(), place="nas", octets=7)
    store(**FULL)
    lines = render_metrics(timezone.now()).decode().splitlines()
    wanted = {
        "netzwart_database_disk_free_bytes 1.073741824e+09",
        "netzwart_database_connections 14.0",
        "netzwart_backup_bytes 7.0",
        'netzwart_queue_oldest_seconds{queue="feeds"} 900.0',
        'netzwart_table_dead_rows{table="traffic_hour_20260629"} 60000.0',
        'netzwart_partitions_ahead_seconds{table="traffic_today"} 144000.0',
        'netzwart_portal_finding{rule="database_disk",severity="critical"} 1.0',
    }
    assert wanted <= set(lines)
