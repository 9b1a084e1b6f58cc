"""The process of live events, with a real uvicorn and a real PostgreSQL."""

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection, transaction
from django.test import Client

from apps.accounts import tokens
from apps.accounts.models import User
from apps.deployments.services import reconcile
from apps.events import notify_listener
from apps.events.hub import MAX_WAITING_EVENTS
from apps.events.models import Event
from apps.nat.models import PortForward
from tests import factories
from tests.db.locks import waiting
from tests.events_client import Process, Stream, events_process, stream
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def tell(*pks: int) -> None:
    """Publish an event for each of these rollouts, in one transaction."""
    Event.objects.bulk_create([Event(kind="rollout", object_id=pk, state="applying") for pk in pks])


def cookie(user: User, client: Client | None = None) -> dict[str, str]:
    client = client or Client()
    client.force_login(user)
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


@pytest.fixture(scope="module")
def process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A process for all tests of this module, which checks the rights of its subscribers every 0.2 s."""
    given = {"NETZWART_EVENTS_CHECK_SECONDS": "0.2", "NETZWART_EVENTS_STREAMS_EACH": "3"}
    with events_process(tmp_path_factory.mktemp("events"), **given) as running:
        yield running


def listeners() -> list[int]:
    """Return the process ids of PostgreSQL's backends that listen for notifications."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s AND query LIKE 'LISTEN%%'",
            [notify_listener.NAME],
        )
        return [pid for (pid,) in cursor.fetchall()]


def numbers(of: Stream, until: int) -> list[object]:
    return [data["id"] for _kind, data in of.read(until=until)]


def test_nothing_is_missed_by_coming_back_by_late_commits_or_when_the_database_cuts_the_line(
    process: Process,
) -> None:
    mara = cookie(factories.network().admin)
    with closing(stream(process.port, mara)) as first:
        tell(1)
        assert first.read() == [("rollout", {"type": "rollout", "id": 1, "state": "applying"})]
        with closing(connection.copy()) as late:
            late.set_autocommit(False)
            with late.cursor() as cursor:
                cursor.execute("INSERT INTO events_event (kind, object_id, state, own) VALUES ('rollout', 2, 'queued', false)")
            tell(3)
            assert numbers(first, 1) == [3]
            with closing(stream(process.port, mara | {"Last-Event-ID": first.last_id})) as third:
                late.commit()
                assert numbers(first, 1) == numbers(third, 1) == [2]
        seen = first.last_id
        before = wait_for(listeners)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s) pid", [before])
        tell(4)
        assert numbers(first, 1) == [4]
        assert wait_for(listeners) != before
    tell(5)
    with closing(stream(process.port, mara | {"Last-Event-ID": seen})) as second:
        tell(6)
        assert numbers(second, 3) == [4, 5, 6]
        seen = second.last_id
    for lost in (f"1-{seen.partition('-')[2]}", "nonsense"):
        with closing(stream(process.port, mara | {"Last-Event-ID": lost})) as again:
            assert again.read() == [("reset", {})], lost


def test_who_reads_too_slowly_is_told_to_look_again_and_then_goes_on(process: Process) -> None:
    with closing(stream(process.port, cookie(factories.network().admin))) as slow:
        tell(*range(MAX_WAITING_EVENTS + 1))
        assert slow.read() == [("reset", {})]
        tell(7)
        assert numbers(slow, 1) == [7]


def test_a_database_that_cannot_say_who_somebody_is_silences_no_stream(process: Process) -> None:
    user = factories.user()
    with closing(stream(process.port, cookie(user))) as listening_on, closing(connection.copy()) as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        wait_for(waiting, seconds=60)
        tell(1)
        assert numbers(listening_on, 1) == [1]
        other.rollback()


def test_streams_are_for_those_who_may_and_for_as_long_as_they_may(process: Process) -> None:
    network = factories.network()
    mara, theo = cookie(network.admin), cookie(factories.user("theo", roles=["auditor"]))
    selin, (_token, key) = (
        factories.user("selin", staff=False),
        tokens.create_token(user=network.admin, name="script", scopes=["rollout:read"]),
    )
    bearer = {"Authorization": f"Bearer {key}"}
    for headers, path, status in (
        ({}, "/events/", 401),
        (bearer, "/events/", 401),
        ({"Cookie": r'sessionid="aaaaaaaa\000"'}, "/events/", 401),
        ({"Cookie": r'sessionid="aaaaaaaa\000"'}, "/api/events/", 401),
        ({"Authorization": "Bearer nw_nobody"}, "/api/events/", 401),
        (mara | {"Origin": "https://elsewhere.example"}, "/events/", 403),
        (mara | {"Host": "elsewhere.example"}, "/events/", 400),
        (mara, "/members/", 404),
    ):
        assert stream(process.port, headers, path).status == status, (headers, path)

    reading = [stream(process.port, mara | {"Origin": configured.PORTAL_URL}) for _each in range(3)]
    assert stream(process.port, mara).status == 429
    member, script, auditor = (
        stream(process.port, cookie(selin)),
        stream(process.port, bearer, "/api/events/"),
        stream(process.port, theo),
    )
    assert [each.status for each in (*reading, member, script, auditor)] == [200, 200, 200, 200, 429, 200], "a script is its owner's"
    for each in reading:
        each.close()
    wait_for(lambda: stream(process.port, mara).status == 200)
    script = stream(process.port, bearer, "/api/events/")
    with transaction.atomic():
        Event.objects.create(kind="ticket", object_id=1, state="open")
        tell(2)
    assert numbers(script, 1) == [2] == numbers(auditor, 2)[1:]

    tokens.revoke_token(user=network.admin, pk=_token.pk)
    User.objects.filter(username="theo").update(roles=["helpdesk"])
    Client(headers=cookie(selin)).logout()
    selin.delete()
    for each in (script, auditor, member):
        each.end()
        each.close()


@pytest.mark.parametrize(
    ("when", "seconds"), [("active", configured.STAFF_IDLE_SECONDS + 60), ("began", configured.STAFF_SESSION_SECONDS + 60)]
)
def test_streams_of_staff_end_with_their_session_and_no_new_one_begins(process: Process, when: str, seconds: float) -> None:
    clients = Client(), Client()
    mara, guest = cookie(factories.user(), clients[0]), cookie(factories.user("guest", staff=False), clients[1])
    both = [stream(process.port, headers) for headers in (mara, guest)]
    for client in clients:
        session = client.session
        session.update({"began": time.time(), "active": time.time()} | {when: time.time() - seconds})
        session.save()
    assert stream(process.port, mara).status == 401
    both[0].end()
    with closing(stream(process.port, guest)) as again:
        assert again.status == 200, "members stay as long as their cookie does"
    for each in both:
        each.close()


def test_streams_end_properly_when_the_process_is_told_to_end(django_db_setup: None, tmp_path: Path) -> None:
    user = factories.user()
    with events_process(tmp_path) as process, closing(stream(process.port, cookie(user))) as open_one:
        process.popen.send_signal(signal.SIGTERM)
        open_one.end()
        assert process.popen.wait(60) in (0, -signal.SIGTERM)
        assert "Traceback" not in process.log.read_text()


def test_a_write_that_waits_is_answered_when_every_gateway_has_it_and_the_member_is_told(
    process: Process, served_network: factories.Network
) -> None:
    reconcile(served_network.group)
    resident, selin = served_network.residents["m1"], factories.user("selin", staff=False)
    type(resident.member).objects.filter(pk=resident.member.pk).update(user=selin)
    _token, key = tokens.create_token(user=served_network.admin, name="script")

    def call(method: str, path: str, given: object = None) -> tuple[int, Any]:
        web = HTTPConnection("127.0.0.1", process.port, timeout=120)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        web.request(method, path, None if given is None else json.dumps(given), headers)
        with closing(web), web.getresponse() as answer:
            return answer.status, json.loads(answer.read())

    def forward(port: int) -> dict[str, object]:
        ports = {"public_port": port, "private_port": port}
        return {"holding": resident.holding.pk, "protocol": "tcp", "public_address": str(factories.PUBLIC)} | ports

    with ThreadPoolExecutor(1) as pool, closing(stream(process.port, cookie(selin))) as own:
        asked = pool.submit(call, "POST", "/api/nat/forwards/?wait=confirmed&timeout=60", forward(8443))
        wait_for(PortForward.objects.exists, seconds=60)
        made = PortForward.objects.get()
        reconcile(served_network.group)
        status, said = asked.result()
        assert status == 201 and all(each["since"] for each in said["active"]), said
        assert own.read() == [("forward", {"type": "forward", "id": made.pk, "state": "confirmed"})]

        asked = pool.submit(call, "POST", "/api/nat/forwards/?wait=confirmed&timeout=60", [forward(8444), forward(8445)])
        wait_for(lambda: PortForward.objects.count() == 3, seconds=60)
        reconcile(served_network.group)
        status, said = asked.result()
        assert status == 201 and [each["public_port"] for each in said] == [8444, 8445]
    status, said = call("PATCH", f"/api/nat/forwards/{made.pk}/?wait=confirmed&timeout=0", {"purpose": "web"})
    assert status == 202 and not all(each["since"] for each in said["active"])
    assert call("GET", f"/api/nat/forwards/{made.pk}/?wait=confirmed&timeout=0")[0] == 202
    assert call("GET", f"/api/nat/forwards/{made.pk}/?wait=for-ever")[0] == 400
    assert call("GET", f"/api/nat/forwards/{made.pk}/?wait=confirmed&timeout=61")[0] == 400
    reconcile(served_network.group)
    assert call("GET", f"/api/nat/forwards/{made.pk}/?wait=confirmed&timeout=60")[0] == 200
    told = set(Event.objects.values_list("kind", "state"))
    assert told >= {("rollout", "applying"), ("rollout", "confirmed"), ("step", "confirmed"), ("gateway", "confirmed")}
