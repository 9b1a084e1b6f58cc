"""Sizes of the tables, with indexes and partitions, and what bounds each table."""

from dataclasses import dataclass

from django.apps import apps
from django.db import connection
from pghistory.models import Event as HistoryEvent

from apps.operations.registry import TableBoundKind, TableRetention, list_retentions

SIZES = """
    SELECT c.relname, sum(pg_total_relation_size(part.relid))::bigint, sum(greatest(p.reltuples, 0))::bigint
    FROM pg_class c
    CROSS JOIN LATERAL pg_partition_tree(c.oid) AS part
    JOIN pg_class p ON p.oid = part.relid
    WHERE c.relkind = 'p' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
    GROUP BY c.relname
    UNION ALL
    SELECT relname, pg_total_relation_size(oid), greatest(reltuples, 0)::bigint
    FROM pg_class WHERE relkind = 'r' AND NOT relispartition AND relnamespace = 'public'::regnamespace
    ORDER BY 2 DESC, 1
"""


@dataclass(frozen=True)
class TableSize:
    """Size of one table. octets: with indexes and partitions. rows: the database's last estimate. retention: what bounds it."""

    name: str
    octets: int
    rows: int
    retention: TableRetention | None


def list_table_sizes() -> list[TableSize]:
    """Return all tables of the portal, largest first. One query of the catalogue, which reads no table."""
    declared = _map_retentions()
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return [TableSize(name, octets, rows, declared.get(name)) for name, octets, rows in cursor.fetchall()]


def _map_retentions() -> dict[str, TableRetention]:
    """Map table names to retentions. History tables and tables between two models are bounded like the table that they belong to."""
    by_label = {each.label: each for each in list_retentions()}
    found = {label: each for label, each in by_label.items() if "." not in label}
    for model in apps.get_models(include_auto_created=True):
        label, owner = model._meta.label, model._meta.auto_created
        if issubclass(model, HistoryEvent):
            found.setdefault(model._meta.db_table, TableRetention(label, TableBoundKind.HISTORY))
        elif owner and owner is not True:
            label = owner._meta.label
        if label in by_label:
            found[model._meta.db_table] = by_label[label]
    return found
