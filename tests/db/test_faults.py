"""Outages of the broker and the database: saves go on without a broker, requests say that the database is away."""

import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.test import Client, RequestFactory
from psycopg_pool import ConnectionPool, PoolTimeout

from apps.accounts.models import User
from apps.lib import enqueue
from apps.lib.web.database_outage import DatabaseOutageMiddleware
from apps.members.models import Member
from apps.members.services import end_membership
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.models import Holding
from portal import settings
from tests import factories
from tests.db.locks import waiting
from tests.whole.system import wait_for


@pytest.fixture
def silent_broker(settings: LazySettings) -> Iterator[None]:
    """A broker that accepts connections and never answers."""
    with tempfile.TemporaryDirectory(prefix="nw-") as directory, socket.socket(socket.AF_UNIX) as listener:
        path = Path(directory) / "silent.sock"
        listener.bind(str(path))
        listener.listen()
        settings.REDIS_URL = f"unix://{path}"
        enqueue._get_publisher.cache_clear()
        yield
    enqueue._get_publisher.cache_clear()


def test_a_silent_broker_loses_the_nudge_and_nothing_else(silent_broker: None) -> None:
    assert enqueue.send_task("workers.reconcile") is False


@pytest.mark.django_db(transaction=True)
def test_a_save_succeeds_without_a_broker(silent_broker: None) -> None:
    network = factories.network()
    add_forward(
        holding=network.residents["m1"].holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, by=network.admin
    )
    assert PortForward.objects.count() == 1


def lost_connection() -> OperationalError:
    try:
        psycopg.connect("host=/nonexistent dbname=nothing")
    except psycopg.OperationalError as error:
        return OperationalError(*error.args)
    raise AssertionError("there is a database where none should be")


@pytest.mark.parametrize(("path", "says"), [("/", b"<html"), ("/api/members/members/", b"The database does not answer")])
def test_a_lost_database_is_said_and_not_a_crash(path: str, says: bytes) -> None:
    answer = DatabaseOutageMiddleware(lambda _: HttpResponse()).process_exception(RequestFactory().get(path), lost_connection())
    assert answer is not None
    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert says in answer.content


def test_after_an_outage_the_next_who_asks_has_the_database_tried_at_once(tmp_path: Path) -> None:
    given: Any = settings.POOL
    with ConnectionPool(f"host={tmp_path} dbname=nothing", open=True, **given) as pool:
        wait_for(lambda: pool.get_stats().get("connections_errors"))
        wait_for(lambda: pool.get_stats()["pool_size"] == 0, seconds=20)
        before = pool.get_stats()["connections_num"]
        with pytest.raises(PoolTimeout):
            pool.getconn(timeout=1)
        assert pool.get_stats()["connections_num"] > before


@pytest.mark.parametrize("path", ["/", "/api/members/members/"])
def test_two_who_wait_for_each_other_are_not_told_that_the_database_is_away(path: str) -> None:
    error = OperationalError("deadlock detected")
    error.__cause__ = psycopg.errors.DeadlockDetected("deadlock detected")
    answer = DatabaseOutageMiddleware(lambda _: HttpResponse()).process_exception(RequestFactory().get(path), error)
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert b"The same data was changed by someone else at the same moment." in answer.content


@pytest.mark.parametrize("path", ["/", "/api/members/members/"])
def test_a_database_whose_disk_is_full_says_so_and_not_that_it_is_away(path: str) -> None:
    error = OperationalError("could not extend file")
    error.__cause__ = psycopg.errors.DiskFull("could not extend file")
    answer = DatabaseOutageMiddleware(lambda _: HttpResponse()).process_exception(RequestFactory().post(path), error)
    assert answer is not None
    assert answer.status_code == 503
    assert b"The disk of the database is full." in answer.content and b"does not answer" not in answer.content


@pytest.mark.django_db(transaction=True)
def test_who_leaves_waits_for_an_address_that_is_being_released_and_holds_nothing_of_it_meanwhile() -> None:
    network = factories.network()
    who = network.residents["m1"]
    forward = add_forward(holding=who.holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, by=network.admin)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Holding.objects.select_for_update().get(pk=who.holding.pk)
            leaving = pool.submit(_leave, who.member, network.admin)
            wait_for(waiting)
            PortForward.objects.select_for_update(nowait=True).get(pk=forward.pk)
        leaving.result()
    assert Member.objects.get(pk=who.member.pk).state == "left"


def _leave(member: Member, by: User) -> None:
    try:
        end_membership(member=member, by=by)
    finally:
        connection.close()


def test_another_fault_is_left_to_django() -> None:
    assert DatabaseOutageMiddleware(lambda _: HttpResponse()).process_exception(RequestFactory().get("/"), KeyError("x")) is None


@pytest.mark.django_db
def test_a_page_that_is_not_there_is_404() -> None:
    assert Client().get("/nothing/here/").status_code == 404
