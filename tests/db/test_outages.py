"""Requests of every kind to the real web server while the database is stopped, or another transaction locks a table."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from apps.accounts import tokens
from apps.accounts.models import User
from apps.nat.models import PortForward
from tests import factories
from tests.events_client import Process, events_process
from tests.private_postgres import own_cluster
from tests.web_server import Web, WebAnswer, web_server
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
GERMAN = {"Accept_Language": "de"}


@dataclass(frozen=True)
class People:
    """The header fields of the requests of a staff account, a member and a script, and their network."""

    staff: dict[str, str]
    member: dict[str, str]
    script: dict[str, str]
    network: factories.Network


def cookie(user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def people() -> People:
    network = factories.network()
    selin = factories.user("selin", staff=False)
    member = network.residents["m1"].member
    member.user = selin
    member.save()
    _token, key = tokens.create_token(user=network.admin, name="script")
    return People(cookie(network.admin), cookie(selin), {"Authorization": f"Bearer {key}"}, network)


def kinds(of: People) -> dict[str, tuple[str, dict[str, str]]]:
    """Return path and header fields of one page of each kind that needs the database."""
    return {
        "dashboard": ("/", of.staff),
        "staff page": ("/members/", of.staff),
        "fragment": ("/members/", of.staff | {"HX_Request": "true"}),
        "member’s page": ("/me/", of.member),
        "page of the account": ("/account/", of.member),
        "API with a token": ("/api/members/members/", of.script),
        "API with a session": ("/api/members/members/", of.staff),
        "export": ("/members.csv", of.staff),
    }


def ask_all(web: Web, pages: dict[str, tuple[str, dict[str, str]]], **more: str) -> dict[str, WebAnswer]:
    with ThreadPoolExecutor(4) as pool:
        asked = {name: pool.submit(web.ask, "GET", path, None, **headers, **more) for name, (path, headers) in pages.items()}
        return {name: answer.result() for name, answer in asked.items()}


def check_503(answer: WebAnswer, of_api: bool, says: str) -> None:
    assert (answer.status, answer.headers["retry-after"]) == (503, "5"), answer
    assert says in answer.body.decode(), answer
    assert answer.headers["content-type"].startswith("application/problem+json" if of_api else "text/html"), answer


def test_while_the_database_is_stopped_every_kind_of_page_says_so_and_afterwards_all_goes_on(tmp_path: Path) -> None:
    who = people()
    pages = kinds(who)
    with own_cluster() as cluster:
        cluster.copy_test_database()
        url = {"NETZWART_DATABASE_URL": cluster.url}
        with web_server(tmp_path, **url) as web, events_process(tmp_path, **url) as events:
            assert {name: answer.status for name, answer in ask_all(web, pages).items()} == dict.fromkeys(pages, 200)
            cluster.stop()
            for words, more in (("The database does not answer.", {}), ("Die Datenbank antwortet nicht.", GERMAN)):
                for name, answer in ask_all(web, pages, **more).items():
                    check_503(answer, name.startswith("API"), words)
            check_writes(web, who)
            assert web.ask("GET", "/static/favicon.svg").status == 200
            assert stream_status(events, who) == 503
            cluster.start()
            wait_for(lambda: {answer.status for answer in ask_all(web, pages).values()} == {200})
            forwards = web.ask("GET", "/api/nat/forwards/", **who.script).body
            assert b'"count":0' in forwards.replace(b" ", b""), forwards
        assert "Traceback" not in web.log.read_text()


def check_writes(web: Web, who: People) -> None:
    """Check that a write is answered with 503, and that the answer says that nothing was partly saved."""
    given = b'{"holding": %d, "protocol": "tcp", "public_address": "%s", "public_port": 80, "private_port": 80}'
    body = given % (who.network.residents["m1"].holding.pk, str(factories.PUBLIC).encode())
    api = web.ask("POST", "/api/nat/forwards/", body, Content_Type="application/json", **who.script)
    check_503(api, True, "Nothing was partly saved.")


def stream_status(events: Process, who: People) -> int:
    return Web(events.port, events.log).ask("GET", "/events/", **who.staff).status


@contextmanager
def lock_table(table: str) -> Iterator[None]:
    """Lock the table in another transaction, so that it cannot even be read."""
    with closing(connection.copy()) as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        try:
            yield
        finally:
            other.rollback()


@pytest.fixture(scope="module")
def impatient(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web server that waits half a second for a lock."""
    with web_server(tmp_path_factory.mktemp("web"), NETZWART_LOCK_SECONDS="0.5") as web:
        yield web


@pytest.mark.parametrize("table", ["django_session", "accounts_user", "members_member"])
def test_while_somebody_holds_a_lock_every_kind_of_page_is_answered_at_last(impatient: Web, table: str) -> None:
    pages = kinds(people())
    concerned = {name for name in pages if table != "django_session" or name != "API with a token"} - (
        {"dashboard", "page of the account"} if table == "members_member" else set()
    )
    with lock_table(table):
        for words, more in (("The database", {}), ("Die Datenbank", GERMAN)):
            for name, answer in ask_all(impatient, {name: pages[name] for name in sorted(concerned)}, **more).items():
                check_503(answer, name.startswith("API"), words)
    assert {name: answer.status for name, answer in ask_all(impatient, pages).items()} == dict.fromkeys(pages, 200)


def test_what_cannot_be_saved_while_somebody_holds_a_lock_is_not_half_saved(impatient: Web) -> None:
    who = people()
    body = b'{"holding": %d, "protocol": "tcp", "public_address": "198.51.100.7", "public_port": 80, "private_port": 80}'
    given = body % who.network.residents["m1"].holding.pk
    with lock_table("nat_portforward"):
        check_503(impatient.ask("POST", "/api/nat/forwards/", given, Content_Type="application/json", **who.script), True, "partly saved")
    assert not PortForward.objects.exists()


def test_a_session_that_cannot_be_noted_as_seen_is_answered_all_the_same(impatient: Web) -> None:
    who = people()
    with lock_table("usersessions_usersession"):
        assert impatient.ask("GET", "/me/", **who.member).status == 200


def test_a_query_that_runs_too_long_is_ended(tmp_path: Path) -> None:
    who = people()
    with web_server(tmp_path, NETZWART_STATEMENT_SECONDS="0.5") as web, lock_table("members_member"):
        check_503(web.ask("GET", "/me/", **who.member), False, "The database is busy")
