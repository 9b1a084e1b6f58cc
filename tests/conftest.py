"""Configuration of all tests: skip what this machine cannot run, require a database, give property tests time on a busy machine.

Tests in tests/unit need nothing; those with pytest-django's `db` need NETZWART_DATABASE_URL, which script/test sets.
"""

import gc
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import TransactionTestCase
from django.utils import translation
from psycopg.conninfo import make_conninfo

from tests.example_counts import DEEP, FULL, USUAL, load_profile
from tests.released_agent import extract_released_sources, why_no_history


@cache
def why_no_kernel() -> str:
    """Return the reason why tests marked `kernel` cannot run here; "" if they can."""
    if os.geteuid() != 0:
        return "needs root for nftables and network namespaces"
    for program, package in (("nft", "nftables"), ("ip", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: {package})"
    tried = subprocess.run(["unshare", "--net", "nft", "add", "table", "inet", "probe"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no nftables in a network namespace here: {tried.stderr.strip()}"


@cache
def why_no_browser() -> str:
    """Return the reason why tests marked `browser` cannot run here; "" if they can."""
    return "" if shutil.which("chromium") else "chromium is not installed (Debian: chromium)"


REASONS: dict[str, Callable[[], str]] = {"kernel": why_no_kernel, "browser": why_no_browser}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="as many random cases as show a mutant, 2.5 times the usual number")
    parser.addoption("--deep", action="store_true", help="ten times the full number of random cases, where a test has many")
    parser.addoption("--machines", action="store_true", help="boot virtual machines for the tests that need them (script/machines test)")
    parser.addoption("--pictures", metavar="DIR", help="where the set-up of two machines puts pictures of its steps")
    parser.addoption("--minutes", type=int, default=0, help="for how long the API is sent new random requests, round after round")


def pytest_configure(config: pytest.Config) -> None:
    load_profile(DEEP if config.getoption("--deep") else FULL if config.getoption("--full") else USUAL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take minutes: one that begins last would run alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Keep modules and tests, which all stay, out of every garbage collection from here on."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, why in REASONS.items():
        if item.get_closest_marker(marker) and (reason := why()):
            pytest.skip(reason)


@pytest.fixture(scope="session")
def released_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the last released agent."""
    if reason := why_no_history():
        pytest.skip(reason)
    return extract_released_sources(tmp_path_factory.mktemp("released"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Check that there is a database server. pytest-django calls this before it makes the test database.

    Each worker of a parallel run has a database of its own.
    """
    if "NETZWART_DATABASE_URL" not in os.environ:
        pytest.exit(
            "No database: NETZWART_DATABASE_URL is not set. Run script/test, or: python -m portal.stack run -- pytest …", returncode=4
        )


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Give programs that the portal starts the test's database, and end the one that stays before the database is dropped."""
    of = connection.settings_dict
    url = make_conninfo(dbname=of["NAME"], user=of["USER"], password=of["PASSWORD"], host=of["HOST"], port=of["PORT"] or None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETZWART_DATABASE_URL", url)
        yield
    from apps.desk.packet_trace.tracer import tracer  # needs Django to be set up

    tracer.close()


@pytest.fixture(scope="session", autouse=True)
def _static_files_as_in_production() -> Iterator[None]:
    """Lets the middleware serve static files to browsers: the live server would put a handler of its own before it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.contrib.staticfiles.handlers.StaticFilesHandler", lambda application: application)
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_emptying() -> Iterator[None]:
    """Makes the end of a test that commits quicker: Django truncates all tables, and writes content types and permissions anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_written_tables)
        yield


def empty_written_tables(_case: TransactionTestCase) -> None:
    """Delete all rows but those that Django itself writes after a migration. Triggers and foreign keys are off meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(relname) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s) AND pg_relation_size(oid) > 0",
            [["django_migrations", "django_content_type", "auth_permission"]],
        )
        tables = [table for (table,) in cursor.fetchall()]
        deletes = "".join(f"DELETE FROM {table};" for table in tables)
        if tables:  # the lock waits for transactions that a test left behind, as TRUNCATE does
            cursor.execute(f"BEGIN; LOCK TABLE {', '.join(tables)}; SET LOCAL session_replication_role = replica; {deletes} COMMIT")


@pytest.fixture(autouse=True)
def _one_factor(settings: LazySettings) -> None:
    """Let staff sign in with only a password; tests of the second factor require it (tests/db/test_signing_in.py, tests/web)."""
    settings.REQUIRE_SECOND_FACTOR = False


@pytest.fixture(autouse=True)
def _fresh_limits(settings: LazySettings) -> None:
    """Use a fresh cache, so that one test's attempts to sign in do not count in the next."""
    settings.CACHES = {**settings.CACHES, "default": {**settings.CACHES["default"], "LOCATION": f"test:{uuid4().hex}"}}


@pytest.fixture(autouse=True)
def _quick_passwords(settings: LazySettings) -> None:
    """Use a fast hash: password hashes are slow on purpose, and tests make hundreds of users."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """Reset the language: a German page in one test leaves this thread German for the next."""
    yield
    translation.deactivate()
