"""The health checks of containers, on a real server and a real database."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from apps.operations.heartbeats import record_alive
from apps.operations.models import ProcessRole
from portal.alive import REPORTING, explain_silent_role, explain_silent_server
from tests.fake_http import FakeAnswer, serving

UNREACHABLE = "host=/nowhere dbname=netzwart connect_timeout=2"


@pytest.fixture
def database() -> Iterator[str]:
    """The address of the tests' database, as another process has it."""
    given = connection.get_connection_params()
    yield f"host={given['host']} dbname={given['dbname']} user={given['user']}"


@pytest.mark.django_db(transaction=True)
def test_a_role_lives_on_the_host_from_which_it_gives_signs_of_life(database: str, settings: LazySettings) -> None:
    assert explain_silent_role("mailer", "a", database) == "mailer has never given a sign of life on a."
    settings.HOST_NAME = "a"
    record_alive(ProcessRole.MAILER, timezone.now())
    assert explain_silent_role("mailer", "a", database) == ""
    assert explain_silent_role("mailer", "b", database) == "mailer has never given a sign of life on b."
    with connection.cursor() as cursor:
        cursor.execute("UPDATE operations_hostheartbeat SET seen = now() - interval '200 seconds'")
    assert explain_silent_role("mailer", "a", database).startswith("mailer gave its last sign of life 20")


def test_while_the_database_is_away_nobody_knows() -> None:
    assert explain_silent_role("mailer", "a", UNREACHABLE).startswith("Nobody knows: the database does not answer.")


@pytest.mark.parametrize(("status", "said"), [(200, ""), (400, ""), (503, " answers 503.")])
def test_a_server_lives_that_gives_any_answer_but_a_fault_of_its_own(status: int, said: str) -> None:
    with serving(FakeAnswer(status)) as server:
        assert explain_silent_server(server.port).endswith(said)
        assert bool(explain_silent_server(server.port)) == bool(said)


def test_a_server_that_is_not_there_does_not_live() -> None:
    with serving(FakeAnswer()) as server:
        port = server.port
    assert explain_silent_server(port).startswith(f"127.0.0.1:{port} does not answer: ")


def test_every_role_that_reports_is_asked_for() -> None:
    assert {*REPORTING, "events"} == set(ProcessRole.values)
