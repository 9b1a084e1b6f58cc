"""The snapshot of the schema gives the same database as all migrations one by one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.apps import apps
from django.db import connection
from psycopg.conninfo import make_conninfo

from apps.lib.database import schema_snapshot
from portal import programs
from portal.stack import database, postgres
from portal.stack.errors import StackError
from portal.stack.snapshot import dump

pytestmark = pytest.mark.django_db


@contextmanager
def empty_database() -> Iterator[str]:
    """Create an empty database on the server of the tests, and yield its connection string."""
    known, name = connection.settings_dict, f"netzwart_{uuid4().hex[:12]}"
    server = {"host": known["HOST"], "port": known["PORT"] or None, "user": known["USER"], "password": known["PASSWORD"] or None}
    with psycopg.connect(make_conninfo(dbname="postgres", **server), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
        try:
            yield make_conninfo(dbname=name, **server)
        finally:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def migrate(url: str, *more: str) -> None:
    command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0", *more]
    subprocess.run(command, env={**os.environ, "NETZWART_DATABASE_URL": url}, cwd=programs.ROOT, check=True)


def schema(url: str) -> str:
    """Return the schema as a dump that was restored and dumped again, because PostgreSQL writes `x IN (…)` of a constraint in another way
    after the first reading.
    """
    server = postgres.list_installed_servers()[0]
    with empty_database() as again:
        with psycopg.connect(again) as connected:
            connected.execute(dump(url, server))
        return dump(again, server)


def test_the_snapshot_and_all_migrations_one_by_one_lead_to_the_same_schema() -> None:
    with empty_database() as quickly, empty_database() as slowly:
        migrate(quickly)
        migrate(slowly, "--one-by-one")
        assert schema(quickly) == schema(slowly)


def test_a_database_in_which_there_is_something_is_not_overwritten() -> None:
    with empty_database() as url, psycopg.connect(url) as used:
        used.execute("CREATE TABLE mine (id int)")
        assert not schema_snapshot.is_empty(used.cursor())


def test_a_database_is_current_until_a_migration_is_added(tmp_path: Path) -> None:
    with empty_database() as url, psycopg.connect(url, autocommit=True) as used:
        assert not schema_snapshot.is_current(used.cursor())
        migrate(url)
        assert schema_snapshot.is_current(used.cursor())
        migrate(url, "webhooks", "zero")
        assert not schema_snapshot.is_current(used.cursor())
        migrate(url)
        assert schema_snapshot.is_current(used.cursor())


def test_a_database_of_migrations_that_are_no_more_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with empty_database() as url:
        with psycopg.connect(url) as old:
            old.execute("CREATE TABLE django_migrations (id bigserial, app varchar(255), name varchar(255), applied timestamptz)")
            old.execute("INSERT INTO django_migrations (app, name) VALUES ('accounts', '0001_users_and_tokens')")
        environment = {**os.environ, "NETZWART_DATABASE_URL": url}
        command = [sys.executable, "manage.py", "migrate", "--no-input"]
        done = subprocess.run(command, env=environment, cwd=programs.ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.strip() == f"CommandError: {schema_snapshot.OUTDATED} Make an empty database and migrate that."
        with pytest.raises(StackError, match=f"If nothing in it matters, move {tmp_path} away: a new one is made"):
            database.has_current_schema(url, tmp_path)


def test_an_edited_or_added_migration_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "migrations" / "nat").mkdir(parents=True)
    (tmp_path / "requirements-production.lock").write_text("django==6.1.3\n")
    before = schema_snapshot.compute_fingerprint(tmp_path)
    (tmp_path / "migrations" / "nat" / "0001_first.py").write_text("operations = []\n")
    added = schema_snapshot.compute_fingerprint(tmp_path)
    (tmp_path / "migrations" / "nat" / "0001_first.py").write_text("operations = [1]\n")
    assert len({before, added, schema_snapshot.compute_fingerprint(tmp_path)}) == 3


def test_every_constraint_and_index_that_a_model_names_is_in_the_database(db: None) -> None:
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    named = {each.name for model in models for each in (*model._meta.constraints, *model._meta.indexes)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class WHERE relkind IN ('i', 'I')")
        assert named - {name for (name,) in cursor.fetchall()} == set()
