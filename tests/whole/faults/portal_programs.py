"""Faults of the portal's own programs, and of the services that it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.test import override_settings

from apps.bans.feed_refresh import refresh_feed
from apps.bans.feed_services import add_feed
from apps.bans.models import BanFeed
from apps.bans.services import create_list
from apps.mail.models import Message
from apps.mail.services import put_in_outbox
from apps.operations.models import ProcessRole
from tests.fake_http import FakeAnswer
from tests.whole.faults.injected_fault import Cause, InjectedFault, ToldBy
from tests.whole.faults.scene import FaultScene

GOOD = FakeAnswer(body=b"".join(b"203.0.113.%d\n" % each for each in range(100, 200)))


def break_feed(answer: FakeAnswer) -> Cause:
    """Let the web server with a ban list, which was fetched before, give this answer from now on."""

    @contextmanager
    def cause(scene: FaultScene) -> Iterator[None]:
        scene.feed.answer = lambda _path, _headers: GOOD
        feed = add_feed(list=create_list(name="Scans", by=scene.network.admin), source=scene.feed.url(), by=scene.network.admin, interval=5)
        refresh_feed(feed.pk)
        scene.feed.answer = lambda _path, _headers: answer
        make_due()
        try:
            yield
        finally:
            scene.feed.answer = lambda _path, _headers: GOOD
            make_due()

    return cause


def make_due() -> None:
    """Let the time have come at which the feed is fetched."""
    BanFeed.objects.update(due=Now())


def silence(*roles: ProcessRole) -> Cause:
    """End these programs of the portal."""

    @contextmanager
    def cause(scene: FaultScene) -> Iterator[None]:
        scene.silent_roles.update(roles)
        try:
            yield
        finally:
            scene.silent_roles.difference_update(roles)

    return cause


@contextmanager
def refuse_mail(scene: FaultScene) -> Iterator[None]:
    """Let nobody listen where mail is sent to, while a mail waits."""
    with override_settings(MAIL_SERVER={**settings.MAIL_SERVER, "port": 9}):
        put_in_outbox(
            Message(to="selin@lindenhof.example", language="en", subject="Hello", text="Hello", sender="netzwart@lindenhof.example")
        )
        yield


@contextmanager
def end_redis(scene: FaultScene) -> Iterator[None]:
    """End the broker."""
    scene.end_redis()
    try:
        yield
    finally:
        scene.start_redis()


@contextmanager
def lock_table(scene: FaultScene) -> Iterator[None]:
    """Let a session that somebody forgot lock a table, so that statements run into their time limit."""
    other = connection.copy()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("LOCK TABLE gateways_healthreading IN ACCESS EXCLUSIVE MODE")
        yield
    finally:
        other.close()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


PORTAL: Final = (
    InjectedFault("a feed answers with an error", break_feed(FakeAnswer(500)), (r"^“Scans” is not refreshed\. .*500",)),
    InjectedFault(
        "a feed answers with a web page",
        break_feed(FakeAnswer(body=b"<html><body><h1>Moved</h1></body></html>")),
        (r"^“Scans” is not refreshed\. Most of its lines cannot be bans \(1 / 1\)\. Is it a list of addresses\?",),
    ),
    InjectedFault(
        "a feed is empty",
        break_feed(FakeAnswer()),
        (r"^The feed of “Scans” would lift 100 of 100 bans\.",),
        mail=ToldBy.NEVER,
        webhook=ToldBy.NEVER,
    ),
    InjectedFault(
        "the mail server refuses",
        refuse_mail,
        (r"^The mail server accepts nothing\. \d mails? waits? in the outbox\. .*Connection refused",),
        mail=ToldBy.AFTERWARDS,
    ),
    InjectedFault(
        "Redis away",
        end_redis,
        (r"^The broker \(Redis\) accepts no messages\. .* Changes are saved, but nothing goes out until it works again\.",),
        mail=ToldBy.NEVER,
        webhook=ToldBy.NEVER,
    ),
    InjectedFault(
        "deploy worker away",
        silence(ProcessRole.WORKER),
        (r"^The deploy worker sends no heartbeat\. Changes are saved but reach no gateway\.",),
    ),
    InjectedFault(
        "collector away",
        silence(ProcessRole.COLLECTOR),
        (r"^The collector sends no heartbeat\. Counters are not read, gateways are not polled",),
    ),
    InjectedFault(
        "mailer away",
        silence(ProcessRole.MAILER),
        (r"^The mailer sends no heartbeat\. Mail is neither sent nor read, nobody is told of alarms",),
        mail=ToldBy.NEVER,
        webhook=ToldBy.NEVER,
    ),
    InjectedFault(
        "scheduler away",
        silence(ProcessRole.TICKER),
        (r"^The scheduler sends no heartbeat\. Saved changes still go out\. Scheduled work stops: gateways are not checked",),
        mail=ToldBy.NEVER,
        webhook=ToldBy.NEVER,
    ),
    InjectedFault("a table locked", lock_table, (r"^Job fails: Reading the gateways’ health\. .*lock timeout",)),
)
