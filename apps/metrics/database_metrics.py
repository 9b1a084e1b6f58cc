"""Metrics of the portal's database, queues and backups, from the last reading of its health."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric

from apps.operations.portal_health.backups import find_last_backup
from apps.operations.portal_health.figures import PortalFigures
from apps.operations.portal_health.judgement import FRESH
from apps.operations.portal_health.selectors import find_portal_reading, list_portal_findings


def iter_metrics(now: datetime) -> Iterator[Metric]:
    """Yield what is known. Figures that are older than five minutes are left out."""
    yield from _iter_backups()
    findings = GaugeMetricFamily("netzwart_portal_finding", "1 for each fault of the portal itself.", labels=["rule", "severity"])
    for finding in list_portal_findings(now):
        findings.add_metric([finding.rule, "critical" if finding.kind == "bad" else "warning"], 1)
    yield findings
    reading = find_portal_reading()
    figures = reading.parse_figures() if reading and now - reading.at <= FRESH else None
    yield from _iter_levels(figures)
    yield from _iter_tables(figures)
    yield from _iter_queues(figures)


def _iter_backups() -> Iterator[Metric]:
    made = GaugeMetricFamily("netzwart_backup_timestamp_seconds", "When the last backup was made that was noted.")
    octets = GaugeMetricFamily("netzwart_backup_bytes", "Size of the last backup.")
    if last := find_last_backup():
        made.add_metric([], last.at.timestamp())
        if last.octets is not None:
            octets.add_metric([], last.octets)
    yield from (made, octets)


def _iter_levels(figures: PortalFigures | None) -> Iterator[Metric]:
    """Yield figures of the whole database. `netzwart_database_bytes` is the sum of the tables; this size has catalogues and free space."""
    names = {
        "netzwart_database_size_bytes": "Size of the whole database.",
        "netzwart_database_connections": "Connections to the database server.",
        "netzwart_database_connections_limit": "Largest number of connections.",
        "netzwart_database_ids_used_ratio": "Part of the transaction ids that are used; autovacuum keeps it at a tenth.",
        "netzwart_database_horizon_transactions": "Transactions since the oldest snapshot that somebody holds.",
        "netzwart_database_oldest_transaction_seconds": "Age of the oldest open transaction.",
        "netzwart_database_disk_bytes": "Size of the disk of the database, if it is known.",
        "netzwart_database_disk_free_bytes": "Free space on that disk.",
    }
    values = _list_levels(figures) if figures else {}
    for name, words in names.items():
        family = GaugeMetricFamily(name, words)
        if name in values:
            family.add_metric([], values[name])
        yield family


def _list_levels(figures: PortalFigures) -> dict[str, float]:
    levels, disk = figures.database, figures.disk
    of_disk = {"netzwart_database_disk_bytes": disk.octets, "netzwart_database_disk_free_bytes": disk.free} if disk else {}
    return {
        "netzwart_database_size_bytes": levels.octets,
        "netzwart_database_connections": levels.connections,
        "netzwart_database_connections_limit": levels.most_connections,
        "netzwart_database_ids_used_ratio": levels.ids_used / (1 << 31),
        "netzwart_database_horizon_transactions": levels.horizon,
        "netzwart_database_oldest_transaction_seconds": figures.transaction.seconds if figures.transaction else 0,
        **of_disk,
    }


def _iter_tables(figures: PortalFigures | None) -> Iterator[Metric]:
    words = "Dead rows of the tables that have most."
    dead = GaugeMetricFamily("netzwart_table_dead_rows", words, labels=["table"])
    live = GaugeMetricFamily("netzwart_table_live_rows", "Live rows of the same tables.", labels=["table"])
    ahead = GaugeMetricFamily("netzwart_partitions_ahead_seconds", "For how long there are partitions.", labels=["table"])
    for table in figures.tables if figures else ():
        dead.add_metric([table.name], table.dead)
        live.add_metric([table.name], table.live)
    for cover in figures.partitions if figures else ():
        ahead.add_metric([cover.table], cover.seconds)
    yield from (dead, live, ahead)


def _iter_queues(figures: PortalFigures | None) -> Iterator[Metric]:
    messages = GaugeMetricFamily("netzwart_queue_messages", "Tasks that wait in a queue of the broker.", labels=["queue"])
    oldest = GaugeMetricFamily("netzwart_queue_oldest_seconds", "Age of the oldest of them.", labels=["queue"])
    memory = GaugeMetricFamily("netzwart_broker_memory_bytes", "Memory that the broker uses.")
    for queue in figures.broker.queues if figures else ():
        messages.add_metric([queue.queue], queue.messages)
        oldest.add_metric([queue.queue], queue.oldest or 0)
    if figures and not figures.broker.error:
        memory.add_metric([], figures.broker.memory)
    yield from (messages, oldest, memory)
