"""Cookies with what no browser got from us: a stranger who sends one is a stranger, and no page fails."""

import pytest
from django.contrib.sessions.backends import db
from django.test import Client

from apps.accounts.session_engine import SessionStore
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db
NONSENSE = [
    r'"aaaaaaaa\000"',
    r'"aaaaaaaa\000aaaaaaaaaaaaaaaaaaaaaaaa"',
    r'"\377\376aaaaaaaa"',
    r'"aaaaaaaa\012Set-Cookie: a=b"',
    "a" * 5000,
    "'; --",
]
NAMES = ["sessionid", "csrftoken", "django_language", "theme", "messages", "passkey-challenge"]


@pytest.mark.parametrize("value", NONSENSE)
@pytest.mark.parametrize("name", NAMES)
def test_a_stranger_with_a_cookie_of_nonsense_sees_what_all_strangers_see(name: str, value: str) -> None:
    stranger = Client(headers={"cookie": f"{name}={value}"})
    answers = {path: stranger.get(path) for path in ("/status/", "/account/login/", "/", "/api/")}
    found = {path: answer.status_code for path, answer in answers.items()}
    assert found == {path: Client().get(path).status_code for path in answers}
    assert [found["/status/"], found["/account/login/"]] == [200, 200] and found["/api/"] in (401, 403)
    answer = stranger.post("/account/login/", {"login": "nobody", "password": "x"})
    assert (answer.status_code, "Sign in" in text(answer)) == (200, True)


def test_sessions_that_djangos_own_engine_has_made_stay_valid() -> None:
    made = db.SessionStore()
    made["of"] = "mara"
    made.save()
    assert made.session_key and SessionStore(made.session_key)["of"] == "mara"
    assert SessionStore.get_model_class().objects.get(pk=made.session_key).get_decoded() == {"of": "mara"}


def test_somebody_who_has_signed_in_stays_so_and_is_a_stranger_with_another_key() -> None:
    mara = signed_in(factories.user())
    assert mara.get("/").status_code == 200
    mara.cookies["sessionid"] = f"{mara.cookies['sessionid'].value}\0"
    assert mara.get("/").status_code == 302
