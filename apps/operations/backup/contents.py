"""What a database holds, read in one transaction: rows of each table, and the applied migrations."""

from typing import Any

import psycopg
from psycopg import sql

type Connection = psycopg.Connection[tuple[Any, ...]]

TABLES = """
    SELECT c.relname FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.relname
"""
"""All tables and partitions with rows of their own. Tables of extensions are left out, as a dump leaves their rows out."""
MIGRATIONS = "SELECT app, name FROM public.django_migrations ORDER BY app, name"


def list_tables(connection: Connection) -> list[str]:
    """Return the names of the tables that hold rows."""
    return [name for (name,) in connection.execute(TABLES)]


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the exact number of rows in each table."""
    return {table: _count_table(connection, table) for table in list_tables(connection)}


def _count_table(connection: Connection, table: str) -> int:
    found = connection.execute(sql.SQL("SELECT count(*) FROM public.{}").format(sql.Identifier(table))).fetchone()
    return int(found[0]) if found else 0


def has_rows(connection: Connection, table: str) -> bool:
    """True if there is a row in the table."""
    found = connection.execute(sql.SQL("SELECT EXISTS (SELECT FROM public.{})").format(sql.Identifier(table))).fetchone()
    return bool(found and found[0])


def read_migrations(connection: Connection) -> dict[str, tuple[str, ...]]:
    """Return the names of the applied migrations, by app."""
    found: dict[str, tuple[str, ...]] = {}
    for app, name in connection.execute(MIGRATIONS):
        found[app] = (*found.get(app, ()), name)
    return found
