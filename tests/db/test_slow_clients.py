"""Clients that send or read slowly, or send too much, against the real web server, the notice page and the process of live events."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from django.test import Client

from portal.stack import commands
from portal.web.open_files import allow_open_files
from tests import factories
from tests.events_client import events_process, stream
from tests.web_server import Web, web_server
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

HALF_HEADER = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_BODY = b"POST /account/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nlogin="
UNREAD = b"GET /static/vendor/bootstrap.min.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
CHUNKED = {"Transfer_Encoding": "chunked"}


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which the server would store bodies that do not fit into memory."""
    return tmp_path_factory.mktemp("spool")


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory, spool: Path) -> Iterator[Web]:
    allow_open_files()
    with web_server(tmp_path_factory.mktemp("web"), TMPDIR=str(spool)) as running:
        yield running


@pytest.fixture(scope="module")
def hurried_server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    options = ("--workers", "1", "--keep-alive", "2")
    with web_server(tmp_path_factory.mktemp("hurried"), *options, worker="tests.hurried_worker.HurriedWorker") as running:
        yield running


@pytest.mark.parametrize("number", [16, 64, 300])
@pytest.mark.parametrize("begin", [b"", HALF_HEADER, HALF_BODY, UNREAD], ids=["silence", "half headers", "half bodies", "unread answers"])
def test_pages_are_answered_while_many_clients_are_slow(web: Web, begin: bytes, number: int) -> None:
    with web.slow_clients(number, begin):
        assert [web.ask("GET", "/account/login/").status for _each in range(5)] == [200] * 5


@pytest.mark.parametrize("begin", [HALF_HEADER, HALF_BODY], ids=["header", "body"])
def test_a_request_that_does_not_end_is_told_so_and_closed(hurried_server: Web, begin: bytes) -> None:
    with hurried_server.slow_clients(1, begin) as (client,):
        assert everything(client).startswith(b"HTTP/1.1 408 ")


def test_a_header_that_comes_octet_by_octet_has_no_more_time(hurried_server: Web) -> None:
    with hurried_server.slow_clients(1, HALF_HEADER) as (client,):
        client.settimeout(0.1)
        assert drip(client).startswith(b"HTTP/1.1 408 ")


def test_silence_and_unread_answers_are_closed(hurried_server: Web) -> None:
    with hurried_server.slow_clients(1, b"") as (silent,), hurried_server.slow_clients(1, UNREAD) as (greedy,):
        everything(silent)
        everything(greedy)
    assert hurried_server.ask("GET", "/account/login/").status == 200


def test_beyond_the_limit_the_oldest_that_waits_makes_room(hurried_server: Web) -> None:
    with hurried_server.slow_clients(200, HALF_HEADER) as clients:
        assert hurried_server.ask("GET", "/account/login/").status == 200
        assert not everything(clients[0]).startswith(b"HTTP/1.1 200")


def everything(client: socket.socket) -> bytes:
    """Return what arrives until the other side closes the connection."""
    got = b""
    try:
        while data := client.recv(65_536):
            got += data
    except ConnectionResetError:
        pass
    return got


def drip(client: socket.socket) -> bytes:
    """Send one octet after the other until the server answers, and return the answer."""
    while True:
        try:
            client.sendall(b"a")
            return client.recv(65_536)
        except TimeoutError:
            continue


def test_a_stranger_cannot_send_much_and_nothing_of_it_reaches_the_disk(web: Web, spool: Path) -> None:
    for path in ("/account/login/", "/tickets/new/", "/bans/1/import/", "/api/bans/bans/"):
        announced = b"POST %s HTTP/1.1\r\nHost: localhost\r\nCookie: sessionid=made-up\r\nContent-Length: 1100000\r\n\r\n" % path.encode()
        with web.slow_clients(1, announced) as (client,):
            assert client.recv(12) == b"HTTP/1.1 413", path
        in_chunks = web.ask("POST", path, b"3\r\nabc\r\n" + b"10c8e0\r\n" + b"x" * 1_100_000 + b"\r\n0\r\n\r\n", **CHUNKED)
        assert in_chunks.status == 413, path
    assert list(spool.iterdir()) == []


def test_who_has_signed_in_sends_files_where_they_belong_and_nowhere_else(web: Web) -> None:
    client = Client()
    client.force_login(factories.user())
    own = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    large = b"x" * 1_100_000
    assert web.ask("POST", "/tickets/new/", large, **own).status == 403  # from Django, because the CSRF token is missing
    assert web.ask("POST", "/members/", large, **own).status == 413
    assert web.ask("POST", "/tickets/new/", b"", **own, Content_Length=str(1 << 30)).status == 413


def test_a_refusal_is_a_page_or_a_problem_in_the_language_of_the_browser(web: Web) -> None:
    page = web.ask("POST", "/account/login/", b"x" * 1_100_000, Accept_Language="de")
    assert (page.status, "1024 KiB" in page.body.decode(), "höchstens" in page.body.decode()) == (413, True, True)
    api = web.ask("POST", "/api/members/members/", b"x" * 1_100_000)
    assert (api.status, api.headers["content-type"]) == (413, "application/problem+json")
    assert len(api.headers["x-request-id"]) == 16
    wait_for(lambda: api.headers["x-request-id"] in web.log.read_text())


def test_the_access_log_names_no_link_that_opens_something(web: Web) -> None:
    assert web.ask("GET", "/account/invited/very-secret/").status < 500
    assert web.ask("GET", "/account/password/reset/key/1-very-secret/").status < 500
    wait_for(lambda: "GET /account/password/reset/key/…/ " in web.log.read_text())
    log = web.log.read_text()
    assert "GET /account/invited/…/ " in log
    assert "very-secret" not in log


@pytest.fixture(scope="module")
def notice(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The notice page's server, as script/server starts it except for the address."""
    allow_open_files()
    options = ("--workers", "1", "--threads", "4")
    directory = tmp_path_factory.mktemp("notice")
    with web_server(directory, *options, worker=commands.NOTICE_WORKER, app="portal.notice:application") as running:
        yield running


@pytest.mark.parametrize("number", [8, 64, 500])
def test_the_notice_page_is_shown_while_many_requests_are_half_sent(notice: Web, number: int) -> None:
    with notice.slow_clients(number, HALF_HEADER), notice.slow_clients(8, HALF_BODY):
        assert [notice.ask("GET", "/").status for _each in range(3)] == [511] * 3


def test_an_address_beyond_its_share_of_the_notice_page_loses_its_own_oldest_connection(notice: Web) -> None:
    with socket.create_connection(("127.0.0.1", notice.port), timeout=60, source_address=("127.0.0.2", 0)) as neighbour:
        neighbour.sendall(HALF_HEADER)
        with notice.slow_clients(17, HALF_HEADER) as clients:
            assert everything(clients[0]) == b""
            neighbour.sendall(b"\r\n\r\n")
            assert neighbour.recv(12) == b"HTTP/1.1 511"


def test_live_events_begin_while_thousands_of_requests_are_half_sent(tmp_path: Path) -> None:
    allow_open_files()
    client = Client()
    client.force_login(factories.user())
    own = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    with events_process(tmp_path) as process, ExitStack() as stack:
        for _each in range(4000):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", process.port), timeout=60))
            half.sendall(HALF_HEADER)
        with closing(stream(process.port, own)) as opened:
            assert opened.status == 200
