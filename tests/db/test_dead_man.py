"""Dead-man's switch: an outside service misses the portal, and another machine watches it."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.alarms.channels import apprise_client
from apps.alarms.dead_man.sign_of_life import SignOfLifeError, send_sign_of_life
from apps.operations import heartbeats
from apps.operations.models import RoleHeartbeat
from tests.fake_http import FakeAnswer, serving
from tests.webhook_receiver import receiving


def live() -> None:
    """Let every program of the portal be alive."""
    for role in heartbeats.list_expected_roles():
        heartbeats.record_alive(role, timezone.now())
        heartbeats.record_served(role)


def test_a_portal_that_works_sends_its_sign_of_life(db: None, settings: LazySettings) -> None:
    live()
    with serving(FakeAnswer(body=b"ok")) as server:
        settings.SIGN_OF_LIFE_URL = server.url("/ping/abc")
        assert send_sign_of_life(timezone.now())
    assert [path for path, _headers in server.asked] == ["/ping/abc"]


def test_a_portal_with_a_dead_worker_falls_silent(db: None, settings: LazySettings) -> None:
    live()
    long_ago = timezone.now() - timedelta(hours=1)
    RoleHeartbeat.objects.filter(role="worker").update(seen=long_ago, served=long_ago)
    with serving(FakeAnswer()) as server:
        settings.SIGN_OF_LIFE_URL = server.url()
        assert not send_sign_of_life(timezone.now())
    assert server.asked == []


def test_without_an_address_nothing_is_sent(db: None) -> None:
    live()
    assert not send_sign_of_life(timezone.now())


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "ftp://127.0.0.1/"])
def test_a_service_that_does_not_answer_is_a_failure_of_the_job(db: None, settings: LazySettings, url: str) -> None:
    live()
    settings.SIGN_OF_LIFE_URL = url
    with pytest.raises(SignOfLifeError):
        send_sign_of_life(timezone.now())


def test_a_service_that_refuses_is_a_failure_too(db: None, settings: LazySettings) -> None:
    live()
    with serving(FakeAnswer(status=404)) as server:
        settings.SIGN_OF_LIFE_URL = server.url()
        with pytest.raises(SignOfLifeError, match="404"):
            send_sign_of_life(timezone.now())


def watch(url: str, *options: Any) -> str:
    said = io.StringIO()
    call_command("watch", url, "--every", "0.01", *map(str, options), stdout=said, stderr=said)
    return said.getvalue()


def test_another_machine_tells_that_the_portal_died_and_that_it_is_back() -> None:
    report = json.dumps({"database": True, "roles": {"worker": {"fault": "silent"}}}).encode()
    answers = [FakeAnswer(503, report)] * 3 + [FakeAnswer(200, b"{}")]
    with serving(lambda _path, _headers: answers.pop(0)) as portal, receiving() as service:
        said = watch(portal.url("/health"), "--tell", f"json://127.0.0.1:{service.port}/", "--after", 2, "--times", 4)
    assert said.splitlines() == ["The portal does not work: worker is silent", "The portal works again"]
    assert [json.loads(body)["title"] for _headers, body in service.came] == said.splitlines()


def test_a_message_that_was_not_taken_is_sent_at_the_next_look() -> None:
    answers = [FakeAnswer(503, b"")] * 3 + [FakeAnswer(200, b"{}")] * 2
    with serving(lambda _path, _headers: answers.pop(0)) as portal, receiving(answers=[503, 200, 503, 200]) as service:
        said = watch(portal.url("/health"), "--tell", f"json://127.0.0.1:{service.port}/", "--after", 1, "--times", 5)
    assert [json.loads(body)["title"].partition(":")[0] for _headers, body in service.came] == [
        *["The portal does not work"] * 2,
        *["The portal works again"] * 2,
    ]
    assert said.count("503") >= 2


def test_an_address_that_fails_in_its_own_way_keeps_none_of_the_others_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def send(target: str, title: str, _text: str) -> str:
        if "first" in target:
            raise ValueError("a bug")
        told.append(title)
        return ""

    monkeypatch.setattr(apprise_client, "send_message", send)
    targets = ("--tell", "json://first.example/", "--tell", "json://second.example/")
    with serving(FakeAnswer(503, b"")) as portal, pytest.raises(CommandError):
        watch(portal.url("/health"), *targets, "--after", 1, "--times", 2)
    assert told == ["The portal does not work: it answered 503"]


@pytest.mark.parametrize("option", ["--every", "--after", "--times"])
def test_numbers_that_are_not_positive_are_refused(option: str) -> None:
    with pytest.raises(CommandError, match="must be greater than 0"):
        call_command("watch", "http://127.0.0.1:1/", "--tell", "json://127.0.0.1:1/", f"{option}=-1")


def test_it_ends_with_an_error_if_the_last_look_failed() -> None:
    with pytest.raises(CommandError, match="no answer"):
        watch("http://127.0.0.1:9/health", "--tell", "json://127.0.0.1:9/", "--times", 1)


def test_an_address_that_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(CommandError, match="apprise does not know 1"):
        watch("http://127.0.0.1:9/health", "--tell", "nonsense://x")
