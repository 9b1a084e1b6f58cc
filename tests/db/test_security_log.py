"""The log of security events: sign-ins, and changes and refusals of rights."""

import re
from collections.abc import Iterator
from io import StringIO
from logging import StreamHandler, getLogger
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client
from structlog.testing import capture_logs

from apps.accounts import role_changes, sessions, tokens
from apps.accounts.models import User
from apps.accounts.security_log import SecurityEvent
from tests import factories
from tests.db.page_client import signed_in

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse battery"
WRONG_KEY = '{"id": "one", "rawId": "another"}'  # what a browser sends of a passkey


@pytest.fixture
def mara(db: None) -> User:
    user = factories.user()
    User.objects.filter(pk=user.pk).update(email="mara@lindenhof.example")
    user.refresh_from_db()
    return user


@pytest.fixture
def lines() -> Iterator[list[Any]]:
    with capture_logs() as captured:
        yield captured


def events(lines: list[Any]) -> list[str]:
    return [each["security"] for each in lines if "security" in each]


def post(client: Client, path: str, **given: str) -> int:
    return client.post(path, given).status_code


def test_signing_in_and_out_and_failing_to(mara: User, lines: list[Any]) -> None:
    client = Client(REMOTE_ADDR="203.0.113.9")
    post(client, "/account/login/", login="mara", password="a wrong one")
    post(client, "/account/login/", login="nobody", password="a wrong one")
    post(client, "/account/login/", login="mara@lindenhof.example", password=PASSWORD)
    post(client, "/account/logout/")
    told = [each for each in lines if "security" in each]
    assert [(each["security"], each.get("user"), each["address"]) for each in told] == [
        ("sign-in failed", "mara", "203.0.113.9"),
        ("sign-in failed", None, "203.0.113.9"),
        ("signed in", "mara", "203.0.113.9"),
        ("signed out", "mara", "203.0.113.9"),
    ]
    assert told[2]["methods"] == "password"
    assert "a wrong one" not in str(told) and "nobody" not in str(told)


def test_tries_that_are_too_many(mara: User, lines: list[Any]) -> None:
    for _try in range(6):
        post(Client(), "/account/login/", login="mara", password="a wrong one")
    assert events(lines)[-1] == "sign-in blocked"


def enter_after_password(**given: str) -> None:
    """Sign in as mara as far as the second factor, and send this."""
    client = Client(REMOTE_ADDR="203.0.113.9")
    post(client, "/account/login/", login="mara", password=PASSWORD)
    post(client, "/account/second-factor/authenticate/", **given)


def test_wrong_second_factors_and_those_that_are_too_many(mara: User, lines: list[Any]) -> None:
    TOTP.activate(mara, generate_totp_secret())
    for given in [{"code": "guessed"}] * 3 + [{"credential": WRONG_KEY}] * 3:
        enter_after_password(**given)
    told = [(each["security"], each["user"], each["address"], each.get("factor")) for each in lines if "security" in each]
    who = ("mara", "203.0.113.9")
    wrong = ["totp"] * 3 + ["webauthn"] * 2
    assert told == [*(("sign-in failed", *who, factor) for factor in wrong), ("sign-in blocked", *who, None)]
    assert "guessed" not in str(lines) and "another" not in str(lines)


@pytest.mark.parametrize("app", [True, False])
def test_a_wrong_code_where_a_sensitive_page_asks_for_it(mara: User, lines: list[Any], app: bool) -> None:
    RecoveryCodes.activate(mara)
    if app:
        TOTP.activate(mara, generate_totp_secret())
    post(signed_in(mara), "/account/second-factor/reauthenticate/", code="wrong")
    told = [(each["security"], each["factor"]) for each in lines if "factor" in each]
    assert told == [("sign-in failed", "totp" if app else "recovery_codes")]


def test_a_wrong_passkey_instead_of_a_password(mara: User, lines: list[Any]) -> None:
    post(Client(), "/account/second-factor/webauthn/login/", credential=WRONG_KEY)
    assert [(each["security"], each["factor"], "user" in each) for each in lines if "security" in each] == [
        ("sign-in failed", "webauthn", False)
    ]


def test_changes_of_password_factors_roles_and_tokens(mara: User, lines: list[Any]) -> None:
    client = Client()
    post(client, "/account/login/", login="mara", password=PASSWORD)
    new = "another horse battery"
    post(client, "/account/password/change/", oldpassword=PASSWORD, password1=new, password2=new)
    theo = factories.user("theo", roles=["helpdesk"])
    role_changes.submit_role_change(user=theo, before=["helpdesk"], after=["auditor"], reason="Books", by=mara)
    token, key = tokens.create_token(user=mara, name="script")
    tokens.revoke_token(user=mara, pk=token.pk)
    sessions.end_all_sessions(user=theo)
    assert events(lines) == ["signed in", "password changed", "roles changed", "token made", "token revoked", "sessions ended"]
    assert key not in str(lines) and new not in str(lines)


def test_what_roles_do_not_allow_and_keys_that_open_nothing(mara: User, lines: list[Any]) -> None:
    selin = signed_in(factories.user("selin", staff=False))
    lines.clear()
    assert selin.get("/members/").status_code == 403
    assert Client(headers={"Authorization": "Bearer nw_nothing"}).get("/api/members/members/").status_code == 401
    assert events(lines) == ["refused", "token unknown"]


@pytest.fixture
def console() -> Iterator[StringIO]:
    """The output of the handler of Django's log, instead of standard error."""
    handler, written = getLogger("django").handlers[0], StringIO()
    assert isinstance(handler, StreamHandler)
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def test_a_refusal_is_one_line_of_the_log_and_a_fault_comes_with_its_traceback(mara: User, console: StringIO) -> None:
    selin = signed_in(factories.user("selin", staff=False))
    assert selin.get("/members/").status_code == 403
    assert re.fullmatch(r"Forbidden \(Permission denied\): /members/ request=[0-9a-f]{16}\n", console.getvalue())
    getLogger("django.request").error("A fault", exc_info=KeyError("a fault of ours"))
    assert "KeyError: 'a fault of ours'" in console.getvalue()


def test_the_page_lists_every_event_and_no_other() -> None:
    page = (ROOT / "docs" / "security-log.md").read_text()
    listed = re.findall(r"^\| `([a-z -]+)` \| ", page, re.MULTILINE)
    assert listed == ["security", *map(str, SecurityEvent)], "the first is the head of the table"
