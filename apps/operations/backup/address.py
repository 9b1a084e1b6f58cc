"""Where a database is: for our own connections, and for PostgreSQL's programs, which get the password in their environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from apps.operations.backup.errors import BackupError

_NAMES = {"NAME": "dbname", "USER": "user", "HOST": "host", "PORT": "port", "PASSWORD": "password"}


@dataclass(frozen=True)
class DatabaseAddress:
    """Parameters of libpq for one database. `name` is the database's name."""

    name: str
    parameters: Mapping[str, str] = field(repr=False)

    def connect(self, *, autocommit: bool = False) -> psycopg.Connection[tuple[Any, ...]]:
        """Open a connection of its own, which a pool does not know. Raises BackupError."""
        try:
            return psycopg.connect(make_conninfo(**self.parameters), autocommit=autocommit)
        except psycopg.OperationalError as error:
            raise BackupError(f"The database {self.name} cannot be reached: {error}") from error

    def build_conninfo(self) -> str:
        """Return the connection string without the password: everybody on the machine sees the arguments of programs."""
        return make_conninfo(**{name: value for name, value in self.parameters.items() if name != "password"})

    def build_environment(self) -> dict[str, str]:
        """Return this process's environment, with the password and with messages in English."""
        password = self.parameters.get("password")
        return {**os.environ, "LC_MESSAGES": "C", **({"PGPASSWORD": password} if password else {})}

    def find_sibling(self, name: str) -> "DatabaseAddress":
        """Return the address of another database of the same server."""
        return replace(self, name=name, parameters={**self.parameters, "dbname": name})


def find_database() -> DatabaseAddress:
    """Return the address of the portal's database, as the settings have it."""
    given: dict[str, Any] = settings.DATABASES["default"]
    parameters = {ours: str(given[name]) for name, ours in _NAMES.items() if given.get(name)}
    options = {name: str(value) for name, value in given.get("OPTIONS", {}).items() if name != "pool"}
    return DatabaseAddress(parameters["dbname"], {**options, **parameters})


def close_connections() -> None:
    """Close this thread's connection to the database, and those that this process keeps for later."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend alone
