"""Limits for requests without an account: they add no rows, cause few password hashes, and get few tries for one account."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts import hashing
from apps.accounts.hashing import ConcurrencyLimiter, TooManyHashings
from apps.accounts.models import User
from tests import factories

PASSWORD = "correct horse battery"
ATTEMPTS = 5  # at one account
AJAX = {"X-Requested-With": "XMLHttpRequest"}


def paths(of: URLResolver | URLPattern, before: str = "") -> Iterator[str]:
    """Yield the path of each route without parameters, and "" for the others."""
    route = before + str(of.pattern)
    if isinstance(of, URLPattern):
        plain = route.replace("^", "").replace("$", "").replace("\\", "").replace("Z", "")
        yield "/" + plain if "<" not in plain and "(" not in plain else ""
        return
    for each in of.url_patterns:
        yield from paths(each, route)


def rows_of_all_tables() -> dict[str, int]:
    return {model._meta.db_table: model._default_manager.count() for model in apps.get_models(include_auto_created=True)}


@pytest.mark.django_db
def test_no_request_of_a_stranger_leaves_a_row() -> None:
    factories.user()
    before = rows_of_all_tables()
    asked = sorted({path for of in get_resolver().url_patterns for path in paths(of) if path})
    assert "/account/second-factor/webauthn/login/" in asked and len(asked) > 100
    for path in asked:
        client = Client(headers=AJAX, raise_request_exception=False)
        client.get(path)
        client.post(path, {"login": "nobody", "password": "x", "credential": "{}", "email": "nobody@example.org"})
    assert rows_of_all_tables() == before


@pytest.mark.django_db
def test_no_answer_to_somebody_who_has_signed_in_may_be_kept_by_others() -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user())
    asked = sorted({path for of in get_resolver().url_patterns for path in paths(of) if path} - {"/account/logout/"})
    answers = {path: client.get(path) for path in asked}
    assert sum(each.status_code == 200 for each in answers.values()) > 50
    for path, answer in answers.items():
        kept = answer.headers.get("Cache-Control", "")
        assert "no-store" in kept or ("private" in kept and "no-cache" in kept), (path, kept)


@pytest.mark.django_db
def test_one_address_gets_few_challenges_for_passkeys() -> None:
    answers = [Client(headers=AJAX).get("/account/second-factor/webauthn/login/") for _each in range(16)]
    assert [each.status_code for each in answers] == [200] * 15 + [429]
    assert int(answers[-1]["Retry-After"]) >= 1


@pytest.mark.django_db
def test_an_account_has_one_count_of_tries_by_name_and_by_address() -> None:
    user = factories.user()
    User.objects.filter(pk=user.pk).update(email="mara@lindenhof.example")
    for number, login in enumerate(["mara", "MARA", "mara@lindenhof.example", "Mara@Lindenhof.example", "mara"]):
        Client(REMOTE_ADDR=f"203.0.113.{number}").post("/account/login/", {"login": login, "password": "wrong"})
    for login in ("mara", "mara@lindenhof.example"):
        answer = Client(REMOTE_ADDR="203.0.113.99").post("/account/login/", {"login": login, "password": PASSWORD})
        assert "Too many tries" in answer.content.decode(), login


def test_of_many_who_hash_one_does_two_wait_and_the_others_are_refused() -> None:
    turnstile, go, inside = ConcurrencyLimiter(1, 2), Event(), Event()

    def work() -> str:
        inside.set()
        assert go.wait(60)
        return "hash"

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(turnstile.run, work)
        assert inside.wait(60)
        others = [pool.submit(turnstile.run, work) for _each in range(2)]
        while turnstile._places.acquire(blocking=False):  # until both others hold a place
            turnstile._places.release()
        with pytest.raises(TooManyHashings):
            turnstile.run(work)
        go.set()
        assert [each.result() for each in (first, *others)] == ["hash"] * 3
    assert turnstile.run(work) == "hash"


@pytest.mark.django_db(transaction=True)
def test_a_sign_in_while_too_many_hash_is_told_when_to_try_again(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = ["apps.accounts.hashing.BoundedPBKDF2"]
    monkeypatch.setattr(hashing.BoundedPBKDF2, "iterations", 1)
    factories.user()
    monkeypatch.setattr(hashing, "_limiter", ConcurrencyLimiter(1, 0))
    go, inside = Event(), Event()

    def work() -> None:
        inside.set()
        go.wait(60)

    held = Thread(target=hashing._limiter.run, args=(work,))
    held.start()
    assert inside.wait(60)
    client, given = Client(), {"login": "mara", "password": PASSWORD}
    answers: list[Any] = [client.post("/account/login/", given) for _each in range(ATTEMPTS)]
    go.set()
    held.join()
    assert {(each.status_code, each["Retry-After"]) for each in answers} == {(429, "5")}
    assert client.post("/account/login/", given).status_code == 302, "an attempt that was not checked does not count"
    connection.close()


def test_passwords_that_are_stored_already_go_on_working(settings: LazySettings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    stored = make_password(PASSWORD)
    settings.PASSWORD_HASHERS = ["apps.accounts.hashing.BoundedPBKDF2"]
    user = User(username="x", password=stored)
    assert user.check_password(PASSWORD)
