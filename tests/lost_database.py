"""Loses the test's database, as a broken disk does, and puts an empty one in its place."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from psycopg import sql

from apps.operations.backup.address import close_connections, find_database
from apps.operations.backup.contents import list_tables


def lose_database() -> None:
    """Drop the database with everything in it, and create an empty one of its name."""
    close_connections()
    address = find_database()
    name = sql.Identifier(address.name)
    with address.find_sibling("postgres").connect(autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(name))


@contextmanager
def database_afterwards() -> Iterator[None]:
    """Leave a database with all tables, whatever the test did to it: other tests use it."""
    try:
        yield
    finally:
        with find_database().connect() as server:
            is_empty = not list_tables(server)
        if is_empty:
            call_command("migrate", verbosity=0)
