"""Signing in: by name or e-mail address, limits on tries and where they are counted, equal answers for known and unknown names, the end
of sessions, password reset, and the second factor of staff.
"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.internal import auth as webauthn
from allauth.usersessions.models import UserSession
from django.conf import LazySettings
from django.contrib.auth import hashers
from django.core import mail
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client, RequestFactory
from redis import Redis

from apps.accounts import bounded_cache, cache_slots, client_address, passkeys, sessions, tokens
from apps.accounts.adapter import confirm_password
from apps.accounts.cache_slots import PROCESS_SLOTS
from apps.accounts.models import User
from apps.accounts.throttle import RequestRate
from tests import factories
from tests.db.page_client import text
from tests.whole.worker import broker

PASSWORD = "correct horse battery"
LOGIN = "/account/login/"
BY_CODE = "/account/second-factor/reauthenticate/"
RECOVERY = "/account/second-factor/recovery-codes/"
PERIOD = 30  # seconds for which an app shows a code


@pytest.fixture
def mara(db: None) -> User:
    user = factories.user()
    User.objects.filter(pk=user.pk).update(email="mara@lindenhof.example")
    user.refresh_from_db()
    return user


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """The address of a Redis of this test."""
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        yield url


def sign_in(client: Client, login: str, password: str = PASSWORD, **headers: Any) -> Any:
    return client.post(LOGIN, {"login": login, "password": password}, **headers)


def reauthenticate(client: Client) -> None:
    """Give the password again, as sensitive pages require."""
    assert client.post("/account/reauthenticate/", {"password": PASSWORD}).status_code == 302


def without_token(page: str) -> str:
    """Return the page without its CSRF token, which differs at each request."""
    return re.sub(r'(value|X-CSRFToken)[=":&quot; ]+[A-Za-z0-9]{64}', "", page)


@pytest.mark.parametrize("login", ["mara", "MARA", "mara@lindenhof.example"])
def test_one_signs_in_by_name_or_address(mara: User, login: str) -> None:
    client = Client()
    assert sign_in(client, login)["Location"] == "/"
    assert client.get("/").status_code == 200


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(mara: User, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    real = hashers.MD5PasswordHasher.encode

    def counting(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return str(real(self, password, salt))

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counting)
    answers, work = [], []
    for login in ("mara", "nobody", "mara@lindenhof.example", "nobody@lindenhof.example"):
        hashed.clear()
        answer = sign_in(Client(), login, "wrong password")
        answers.append((answer.status_code, without_token(text(answer)).replace(login, "")))
        work.append(len(hashed))
    assert len(set(answers)) == 1
    assert "Wrong username, e-mail address or password" in answers[0][1]
    assert len(set(work)) == 1, "one hash for each, whether the account exists or not"


def test_after_five_wrong_tries_even_the_right_password_waits(mara: User) -> None:
    for _ in range(5):
        assert "Wrong username, e-mail address or password" in text(sign_in(Client(), "mara", "wrong"))
    told = text(sign_in(Client(), "mara"))
    assert "Too many tries" in told
    assert sign_in(Client(), "jakob", "wrong", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_an_unknown_name_runs_into_the_same_limit(db: None) -> None:
    answers = [text(sign_in(Client(), "nobody", "wrong")) for _ in range(6)]
    assert ["Too many tries" in each for each in answers] == [False] * 5 + [True]


def test_one_address_cannot_try_many_names(db: None) -> None:
    answers = [sign_in(Client(), f"nobody{number}", "wrong") for number in range(12)]
    assert "Too many tries" in text(answers[-1])
    elsewhere = sign_in(Client(), "nobody99", "wrong", REMOTE_ADDR="203.0.113.9")
    assert "Wrong username, e-mail address or password" in text(elsewhere)


def test_limits_take_a_fixed_room_however_many_names_are_tried(db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_cache, "SLOTS", 64)
    PROCESS_SLOTS.clear()
    for number in range(2000):
        cache.set(f"try-{number}", [number], 300)
    held = PROCESS_SLOTS.list_texts()  # without Redis the cache counts in this process
    assert 0 < len(held) <= 64
    assert max(map(len, held)) <= bounded_cache.LONGEST
    with pytest.raises(ValueError, match="does not fit"):
        cache.set("long", "x" * bounded_cache.LONGEST)


def test_limits_in_redis_are_shared_bounded_and_end(settings: LazySettings, monkeypatch: pytest.MonkeyPatch, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    monkeypatch.setattr(bounded_cache, "SLOTS", 64)
    one, other = (bounded_cache.BoundedCache("netzwart:slot", {}) for _ in range(2))
    assert one.add("lock", True, 60)
    assert not other.add("lock", True, 60)
    assert other.get("lock") is True
    assert other.delete("lock")
    assert one.get("lock", "gone") == "gone"
    for number in range(500):
        one.set(f"try-{number}", [number], 300)
    redis = Redis.from_url(redis_url)
    names = list(redis.scan_iter("netzwart:slot:*"))
    assert 0 < len(names) <= 64
    assert all(0 < redis.ttl(name) <= 300 for name in names)


def test_threads_of_a_process_share_one_count_while_redis_is_down(db: None) -> None:
    with ThreadPoolExecutor(1) as another:
        assert another.submit(lambda: cache.add("lock-of-a-count", [1], 60)).result()  # `cache` is an object of each thread
    assert not cache.add("lock-of-a-count", [2], 60)
    assert cache.get("lock-of-a-count") == [1]


@pytest.mark.parametrize("place", ["redis", "process"])
def test_a_key_overwrites_another_only_where_both_its_slots_are_taken(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, redis_url: str, place: str
) -> None:
    settings.REDIS_URL = redis_url if place == "redis" else "unix:///nobody.sock"
    PROCESS_SLOTS.clear()
    slots = bounded_cache.BoundedCache(f"netzwart:pairs-{place}", {})
    monkeypatch.setattr(bounded_cache, "SLOTS", 8)

    def find_slots(key: str) -> tuple[str, str]:
        return slots._read_candidates(PROCESS_SLOTS, key, None).names

    keys = [f"key-{number}" for number in range(2000)]
    count = next(key for key in keys if len(set(find_slots(key))) == 2)
    first, second = find_slots(count)
    neighbour = next(key for key in keys if find_slots(key)[0] == first and find_slots(key)[1] not in (first, second))
    third = next(key for key in keys if find_slots(key) == (first, second) and key != count)
    slots.set(count, 5, 60)
    slots.set(neighbour, 7, 60)
    assert (slots.get(count), slots.get(neighbour)) == (5, 7), "one slot in common is no collision"
    assert slots.add(third, 9, 60)
    assert not slots.add(third, 10, 60)
    slots.set(count, 6, 60)
    assert [slots.get(key) for key in (count, third, neighbour)] == [6, 9, 7]
    assert slots.delete(neighbour)
    assert not slots.delete(neighbour)


def test_one_network_of_a_computer_cannot_try_many_names(db: None) -> None:
    answers = [sign_in(Client(), f"nobody{number}", "wrong", REMOTE_ADDR=f"2001:db8:5:1::{number:x}") for number in range(12)]
    assert "Too many tries" in text(answers[-1])
    elsewhere = sign_in(Client(), "nobody99", "wrong", REMOTE_ADDR="2001:db8:5:2::1")
    assert "Wrong username, e-mail address or password" in text(elsewhere)


def test_passkey_challenges_are_counted_for_the_network_of_a_computer(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "CHALLENGES", RequestRate(each_minute=1, at_once=3))

    def ask(source: str) -> int:
        client = Client(headers={"x-requested-with": "XMLHttpRequest"})
        return client.get("/account/second-factor/webauthn/login/", REMOTE_ADDR=source).status_code

    answers = [ask(f"2001:db8:5:1:{number:x}::1") for number in range(4)]
    assert answers == [200] * 3 + [429] and ask("2001:db8:5:2::1") == 200


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:5:1:aaaa::1", "2001:db8:5:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", client_address.UNKNOWN),
    ],
)
def test_limits_count_an_ipv4_address_or_the_network_of_an_ipv6_address(address: str, key: str) -> None:
    assert client_address.get_limit_key(RequestFactory().get("/", REMOTE_ADDR=address)) == key


def test_a_forged_forwarded_header_does_not_change_the_source(settings: LazySettings) -> None:
    def asked(direct: str, forwarded: str) -> str:
        return client_address.get_client_address(RequestFactory().get("/", REMOTE_ADDR=direct, HTTP_X_FORWARDED_FOR=forwarded))

    assert asked("203.0.113.9", "10.0.0.1") == "203.0.113.9"
    settings.TRUSTED_PROXIES = [ip_network("192.0.2.0/24"), ip_network("2001:db8::/64")]
    assert asked("203.0.113.9", "10.0.0.1") == "203.0.113.9"
    assert asked("192.0.2.1", "10.0.0.1, 203.0.113.9") == "203.0.113.9"
    assert asked("192.0.2.1", "10.0.0.1, 203.0.113.9, 192.0.2.2") == "203.0.113.9"
    assert asked("2001:db8::1", "203.0.113.9, rubbish") == "2001:db8::1"
    assert asked("::ffff:192.0.2.1", "2001:db8:1::9") == "2001:db8:1::9"
    assert asked("", "203.0.113.9") == client_address.UNKNOWN


def test_sessions_are_listed_and_ended_by_their_owner_alone(mara: User) -> None:
    here, there, jakob = Client(), Client(), Client()
    factories.user("jakob")
    sign_in(here, "mara", HTTP_USER_AGENT="Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
    sign_in(there, "mara", HTTP_USER_AGENT="Mozilla/5.0 (iPhone) Safari/605", REMOTE_ADDR="203.0.113.9")
    sign_in(jakob, "jakob")
    page = text(here.get("/account/sessions/"))
    assert all(told in page for told in ("Firefox, Linux", "Safari, iPhone", "203.0.113.9", "this device"))
    phone = UserSession.objects.get(ip="203.0.113.9")
    assert jakob.post(f"/account/sessions/{phone.pk}/end/").status_code == 404
    assert there.get("/members/").status_code == 200
    assert here.post(f"/account/sessions/{phone.pk}/end/").status_code == 302
    assert there.get("/members/").status_code == 302
    assert here.get("/members/").status_code == 200


def test_all_other_sessions_end_at_once(mara: User) -> None:
    clients = [Client() for _ in range(3)]
    for client in clients:
        sign_in(client, "mara")
    clients[0].post("/account/sessions/end-others/")
    assert [client.get("/members/").status_code for client in clients] == [200, 302, 302]


def test_when_a_session_was_last_seen_is_written_every_five_minutes_only(mara: User, django_assert_num_queries: Any) -> None:
    client = Client()
    sign_in(client, "mara")
    client.get("/account/")
    before = UserSession.objects.get().last_seen_at
    client.get("/account/")
    assert UserSession.objects.get().last_seen_at == before
    held = client.session
    held[sessions._SEEN] = 0
    held.save()
    client.get("/account/", REMOTE_ADDR="203.0.113.9")
    row = UserSession.objects.get()
    assert (row.last_seen_at > before, row.ip) == (True, "203.0.113.9")


def test_a_forgotten_password_is_answered_alike_and_a_link_reaches_who_exists(mara: User) -> None:
    answers = []
    for address in ("mara@lindenhof.example", "nobody@lindenhof.example"):
        answer = Client().post("/account/password/reset/", {"email": address})
        answers.append((answer.status_code, answer["Location"]))
    assert len(set(answers)) == 1
    assert [message.to for message in mail.outbox] == [["mara@lindenhof.example"]]
    link = re.search(r"http://testserver(/account/password/reset/key/\S+)", str(mail.outbox[0].body))
    assert link
    client = Client()
    form = client.get(link[1])
    saved = client.post(form["Location"], {"password1": "a new long secret", "password2": "a new long secret"})
    assert saved.status_code == 302
    assert sign_in(Client(), "mara", "a new long secret")["Location"] == "/"
    assert "has already been used" in text(Client().get(link[1]))


@pytest.mark.parametrize(("given", "left"), [({}, 1), ({"revoke_tokens": "on"}, 0)])
def test_a_new_password_by_mail_revokes_tokens_if_that_is_asked_for(mara: User, given: dict[str, str], left: int) -> None:
    tokens.create_token(user=mara, name="script")
    Client().post("/account/password/reset/", {"email": mara.email})
    link = re.search(r"http://testserver(/account/password/reset/key/\S+)", str(mail.outbox[0].body))
    assert link
    client = Client()
    form = client.get(link[1])["Location"]
    assert "Revoke my tokens" in text(client.get(form))
    sent = {"password1": "a new long secret", "password2": "a new long secret"}
    assert client.post(form, sent | given).status_code == 302
    assert mara.tokens.count() == left


def test_nobody_signs_up_by_himself(db: None) -> None:
    given = {"email": "x@example.org", "username": "x", "password1": PASSWORD}
    assert "By invitation only" in text(Client().post("/account/signup/", given))
    assert not User.objects.exists()


def test_staff_without_a_second_factor_are_led_to_set_one_up_and_can_do_nothing_else(mara: User, settings: LazySettings) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    client = Client()
    sign_in(client, "mara")
    for path in ("/", "/members/", "/account/sessions/", "/account/password/change/", "/rollouts/"):
        assert client.get(path)["Location"] == "/account/second-factor/", path
    assert client.post("/rollouts/deploy/")["Location"] == "/account/second-factor/"
    assert client.get("/members/", HTTP_HX_REQUEST="true")["HX-Redirect"] == "/account/second-factor/"
    assert client.get("/api/members/members/").status_code == 403
    assert "Until then you cannot open any other page" in text(client.get("/account/second-factor/"))
    secret = re.search(r"<code>([A-Z2-7]+)</code>", text(client.get("/account/second-factor/totp/activate/")))
    assert secret
    done = client.post("/account/second-factor/totp/activate/", {"code": code(secret[1])})
    assert done.status_code == 302, text(done)
    assert client.get("/members/").status_code == 200


def test_a_member_needs_no_second_factor(db: None, settings: LazySettings) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    factories.user("selin", staff=False)
    client = Client()
    sign_in(client, "selin")
    assert client.get("/")["Location"] == "/me/"
    assert client.get("/account/").status_code == 200


def code(secret: str, later: int = 0) -> str:
    """Return the code that an app shows now for this secret (RFC 6238), or so many periods later."""
    period = int(totp.time.time()) // PERIOD
    return str(totp.format_hotp_value(totp.hotp_value(secret, period + later)))


def test_a_code_signs_in_once_and_tries_are_bounded(mara: User) -> None:
    secret = totp.generate_totp_secret()
    made = totp.TOTP.activate(mara, secret).instance
    assert secret not in json.dumps(Authenticator.objects.get(pk=made.pk).data), "the database alone is of no use"
    client = Client()
    assert sign_in(client, "mara")["Location"] == "/account/second-factor/authenticate/"
    assert client.get("/members/").status_code == 302
    once = code(secret)
    assert client.post("/account/second-factor/authenticate/", {"code": once})["Location"] == "/"
    assert client.get("/members/").status_code == 200
    other = Client()
    sign_in(other, "mara")
    replayed = other.post("/account/second-factor/authenticate/", {"code": once})
    assert "Wrong code" in text(replayed)
    for _ in range(6):
        last = other.post("/account/second-factor/authenticate/", {"code": "000000"})
    assert "Too many tries" in text(last)


@pytest.mark.parametrize("way", ["code", "key"])
def test_a_right_second_factor_does_not_end_the_count_of_wrong_passwords_from_its_address(
    mara: User, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    secret = totp.generate_totp_secret()
    made = totp.TOTP.activate(mara, secret).instance
    monkeypatch.setattr(webauthn, "parse_authentication_response", lambda _given: None)
    monkeypatch.setattr(webauthn, "complete_authentication", lambda *_given: made)
    for number in range(9):
        assert "Wrong username" in text(sign_in(Client(), f"nobody{number}", "wrong"))
    client = Client()
    sign_in(client, "mara")
    right = {"code": code(secret)} if way == "code" else {"credential": '{"id": "key"}'}
    assert client.post("/account/second-factor/authenticate/", right)["Location"] == "/"
    told = [text(sign_in(Client(), f"somebody{number}", "wrong")) for number in range(2)]
    assert ["Too many tries" in each for each in told] == [False, True]


class CodeClock:
    """The clock of codes, and of the memory of those that were used. It stands, at the beginning of a period, until a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed = 0
        begin, started = int(time()) // PERIOD * PERIOD, monotonic()
        monkeypatch.setattr(totp, "time", SimpleNamespace(time=lambda: begin + self.passed))
        monkeypatch.setattr(cache_slots, "time", SimpleNamespace(monotonic=lambda: started + self.passed))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> CodeClock:
    return CodeClock(monkeypatch)


def is_taken(user: User, given: str, client: Client | None = None) -> bool:
    """Sign in with the password and this code."""
    client = client or Client()
    sign_in(client, user.username)
    answer = client.post("/account/second-factor/authenticate/", {"code": given})
    assert answer.status_code == 302 or "Wrong code" in text(answer)
    return bool(answer.status_code == 302)


@pytest.mark.parametrize(("later", "taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_code_of_a_neighbouring_period_is_taken_too_and_none_further_away(mara: User, clock: CodeClock, later: int, taken: bool) -> None:
    totp.TOTP.activate(mara, secret := totp.generate_totp_secret())
    assert is_taken(mara, code(secret, later)) is taken


@pytest.mark.parametrize("written", ["{0}{1}", "{0}-{1}"])
def test_a_code_that_was_used_is_not_taken_again_until_it_is_worthless(mara: User, clock: CodeClock, written: str) -> None:
    totp.TOTP.activate(mara, secret := totp.generate_totp_secret())
    once = code(secret, 1)  # as soon as it is taken at all, from a phone that is ahead
    assert is_taken(mara, once)
    for clock.passed in (PERIOD + 1, 2 * PERIOD + 1, 3 * PERIOD - 1, 3 * PERIOD + 1):
        assert not is_taken(mara, written.format(once[:3], once[3:])), clock.passed


def test_a_code_that_was_given_again_to_change_something_signs_nobody_in(mara: User, clock: CodeClock) -> None:
    totp.TOTP.activate(mara, secret := totp.generate_totp_secret())
    client = Client()
    client.force_login(mara)
    once = code(secret, 1)
    assert client.post(BY_CODE, {"code": once}).status_code == 302
    clock.passed = PERIOD + 1
    assert not is_taken(mara, once)


def test_another_persons_passkey_cannot_be_named_or_removed(mara: User) -> None:
    factories.user("jakob")
    key = Authenticator.objects.create(user=mara, type=Authenticator.Type.WEBAUTHN, data={"name": "Key", "credential": {}})
    client = Client()
    sign_in(client, "jakob")
    reauthenticate(client)
    for path in (f"/account/second-factor/webauthn/keys/{key.pk}/remove/", f"/account/second-factor/webauthn/keys/{key.pk}/edit/"):
        assert client.get(path).status_code == 404
        assert client.post(path, {"name": "Mine"}).status_code == 404
    assert Authenticator.objects.get(pk=key.pk).data["name"] == "Key"


def test_who_has_just_signed_in_sets_up_the_first_second_factor_without_the_password_again(mara: User, settings: LazySettings) -> None:
    client = Client()
    sign_in(client, "mara")
    secret = re.search(r"<code>([A-Z2-7]+)</code>", text(client.get("/account/second-factor/totp/activate/")))
    assert secret
    assert client.post("/account/second-factor/totp/activate/", {"code": code(secret[1])}).status_code == 302
    assert client.get(RECOVERY).status_code == 200, "the codes are shown next"
    assert client.post("/account/email/", {"email": "new@lindenhof.example", "action_add": ""})["Location"].startswith(BY_CODE)
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    assert client.get(RECOVERY)["Location"].startswith(BY_CODE)


def test_a_password_alone_is_not_enough_for_who_has_a_second_factor(mara: User) -> None:
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(mara, secret)
    client = Client()
    client.force_login(mara)
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time(), "username": "mara"}]
    session["account_authentication_methods_user"] = str(mara.pk)
    session.save()
    assert client.get(f"{RECOVERY}generate/")["Location"].startswith(BY_CODE)


DELICATE = [
    RECOVERY,
    f"{RECOVERY}generate/",
    f"{RECOVERY}download/",
    "/account/second-factor/webauthn/add/",
    "/account/second-factor/totp/deactivate/",
]


def test_the_password_given_again_shows_no_recovery_codes_and_changes_no_factor(mara: User) -> None:
    totp.TOTP.activate(mara, totp.generate_totp_secret())
    RecoveryCodes.activate(mara)
    client = Client()
    client.force_login(mara)
    assert client.get(f"/account/reauthenticate/?next={RECOVERY}")["Location"] == f"{BY_CODE}?{urlencode({'next': RECOVERY})}"
    reauthenticate(client)
    for path in DELICATE:
        assert client.get(path)["Location"].startswith(BY_CODE), path
    assert "/account/reauthenticate/" not in text(client.get(BY_CODE)), "no way leads back to the password"


def test_a_recovery_code_from_paper_stands_in_for_a_lost_phone(mara: User) -> None:
    totp.TOTP.activate(mara, totp.generate_totp_secret())
    on_paper = RecoveryCodes.activate(mara).get_unused_codes()
    client = Client()
    client.force_login(mara)
    asked = client.get("/account/second-factor/totp/deactivate/")
    assert client.post(asked["Location"], {"code": on_paper[0]})["Location"] == "/account/second-factor/totp/deactivate/"
    client.post("/account/second-factor/totp/deactivate/")
    assert not Authenticator.objects.exists(), "the app is removed, and with it the codes"
    assert client.get("/account/reauthenticate/").status_code == 200, "from now on by password"


def test_whoever_has_only_a_passkey_confirms_with_that(mara: User) -> None:
    Authenticator.objects.create(user=mara, type=Authenticator.Type.WEBAUTHN, data={"name": "Key", "credential": {}})
    client = Client()
    client.force_login(mara)
    assert client.get("/account/reauthenticate/")["Location"] == "/account/second-factor/webauthn/reauthenticate/"


def test_what_is_delicate_asks_for_the_password_again(mara: User) -> None:
    client = Client()
    client.force_login(mara)
    assert client.get("/account/second-factor/totp/activate/")["Location"].startswith("/account/reauthenticate/")
    wrong = client.post("/account/reauthenticate/", {"password": "wrong"})
    assert "not your password" in text(wrong)
    right = client.post("/account/reauthenticate/?next=/account/second-factor/totp/activate/", {"password": PASSWORD})
    assert right.status_code == 302
    assert client.get("/account/second-factor/totp/activate/").status_code == 200


def test_who_lost_the_phone_gets_a_new_start_and_is_signed_out(mara: User) -> None:
    totp.TOTP.activate(mara, totp.generate_totp_secret())
    client = Client()
    client.force_login(mara)
    UserSession.objects.create(user=mara, session_key=client.session.session_key, ip="203.0.113.9", user_agent="Firefox")
    call_command("forget_second_factor", "Mara", stdout=StringIO())
    assert not Authenticator.objects.exists()
    assert client.get("/members/").status_code == 302


def test_the_approval_of_ones_own_change_counts_wrong_passwords(mara: User) -> None:
    with context.request_context(RequestFactory().post("/", REMOTE_ADDR="203.0.113.9")):
        for _ in range(5):
            with pytest.raises(ValidationError, match="not your password"):
                confirm_password(mara, "wrong")
        with pytest.raises(ValidationError, match="Too many tries"):
            confirm_password(mara, PASSWORD)
