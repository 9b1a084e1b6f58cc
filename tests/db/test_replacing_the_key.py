"""Rotation of the portal's secret key: what was signed or encrypted with the former one works until that is removed."""

import re
from io import StringIO
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.usersessions.models import UserSession
from cryptography.fernet import InvalidToken
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.core.signing import Signer
from django.test import Client

from apps.accounts.sessions import end_all_sessions
from apps.events.subscriber_rights import SubscriberRequest, authenticate_subscriber
from apps.tickets import addressing
from apps.webhooks.signing import compute_signature, derive_secret, derive_secrets, make_salt
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_signing_in import PASSWORD, sign_in

ROOT = Path(__file__).parents[2]
FORMER, CURRENT = "the former key, of fifty characters and a few more", "the current key, of fifty characters and some more"


@pytest.fixture(autouse=True)
def _former(settings: LazySettings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    settings.SUPPORT_ADDRESS = "support@lindenhof.example"


def replace(settings: LazySettings, *fallbacks: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = CURRENT, list(fallbacks)


@pytest.mark.django_db
def test_second_factors_are_read_with_the_former_key_and_encrypted_anew(settings: LazySettings) -> None:
    mara = factories.user()
    made = totp.TOTP.activate(mara, secret := totp.generate_totp_secret()).instance

    def read() -> str:
        return str(totp.decrypt(Authenticator.objects.get(pk=made.pk).data["secret"]))

    replace(settings)
    with pytest.raises(CommandError, match="encrypted with a key that is not given"):
        call_command("reencrypt")
    replace(settings, FORMER)
    assert read() == secret
    call_command("reencrypt", stdout=(said := StringIO()))
    assert "current key: 1" in said.getvalue()
    replace(settings)
    assert read() == secret
    settings.SECRET_KEY = FORMER
    with pytest.raises(InvalidToken):
        read()


@pytest.mark.django_db
def test_answers_to_mails_from_before_find_their_ticket(settings: LazySettings) -> None:
    mara = factories.user()
    old = [addressing.build_ticket_address(17), addressing.build_staff_reply_address(mara, 17)]
    replace(settings, FORMER)
    assert [found and found.ticket for found in map(addressing.parse_signed_address, old)] == [17, 17]
    replace(settings)
    assert [addressing.parse_signed_address(each) for each in old] == [None, None]


def test_deliveries_of_webhooks_are_signed_by_both_keys_and_receivers_believe_either(settings: LazySettings) -> None:
    known: dict[str, object] = {}
    exec((ROOT / "docs" / "webhooks.md").read_text().split("```python\n")[1].split("```")[0], known)  # noqa: S102 - our own documentation
    believes, body, salt = known["is_from_netzwart"], b"{}", make_salt()
    former = derive_secret(salt)
    replace(settings, FORMER)
    at = int(known["time"].time())  # type: ignore[attr-defined]  # the module `time`, which the documentation imports
    signed = compute_signature(derive_secrets(salt), at, body)
    assert derive_secret(salt) != former
    assert believes(former, signed, body) and believes(derive_secret(salt), signed, body)  # type: ignore[operator]  # a function
    assert not believes("another", signed, body)  # type: ignore[operator]


def open_session(agent: str) -> Client:
    client = Client(headers={"user-agent": agent})
    assert sign_in(client, "mara").status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


@pytest.mark.django_db
def test_sessions_from_before_stay_signed_in_and_listed_and_end_together(settings: LazySettings) -> None:
    mara = factories.user()
    laptop, phone = open_session("Firefox/140.0 Linux"), open_session("Safari/605 iPhone")
    replace(settings, FORMER)
    assert is_signed_in(laptop)
    assert all(device in text(laptop.get("/account/sessions/")) for device in ("Firefox, Linux", "Safari, iPhone"))
    assert is_signed_in(phone)
    assert all(device in text(laptop.get("/account/sessions/")) for device in ("Firefox, Linux", "Safari, iPhone"))
    assert end_all_sessions(user=mara) == 2
    assert not is_signed_in(laptop) and not is_signed_in(phone)


@pytest.mark.django_db
def test_who_looks_at_sessions_from_before_or_signs_in_ends_none(settings: LazySettings) -> None:
    mara = factories.user()
    phone, administrator = open_session("Safari/605 iPhone"), signed_in(factories.user("jonas"))
    replace(settings, FORMER)
    assert "127.0.0.1" in text(administrator.get(f"/account/people/{mara.pk}/"))
    open_session("Firefox/140.0 Linux")
    assert is_signed_in(phone) and UserSession.objects.filter(user=mara).count() == 2


def subscribe(client: Client) -> int:
    """Open live events as the client's browser does, and return whose they are."""
    headers = ((b"host", b"localhost"), (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()))
    return authenticate_subscriber(SubscriberRequest(headers, "127.0.0.1", secure=False, of_api=False)).user


@pytest.mark.django_db
def test_live_events_go_on_in_sessions_from_before_and_end_none(settings: LazySettings) -> None:
    mara = factories.user()
    laptop = open_session("Firefox/140.0 Linux")
    replace(settings, FORMER)
    assert [subscribe(laptop), subscribe(laptop)] == [mara.pk, mara.pk]
    assert is_signed_in(laptop) and subscribe(laptop) == mara.pk


@pytest.mark.django_db
def test_without_the_former_key_sessions_last_that_have_opened_a_page_since(settings: LazySettings) -> None:
    factories.user()
    laptop, phone = open_session("Firefox/140.0 Linux"), open_session("Safari/605 iPhone")
    replace(settings, FORMER)
    assert is_signed_in(laptop)
    replace(settings)
    assert [is_signed_in(laptop), is_signed_in(phone)] == [True, False]


@pytest.mark.django_db
def test_another_password_still_changes_the_key_of_a_session_from_before(settings: LazySettings) -> None:
    mara = factories.user()
    laptop, phone = open_session("Firefox/140.0 Linux"), open_session("Safari/605 iPhone")
    replace(settings, FORMER)
    before = laptop.cookies["sessionid"].value
    sent = {"oldpassword": PASSWORD, "password1": "another long one", "password2": "another long one"}
    assert laptop.post("/account/password/change/", sent).status_code == 302
    assert laptop.cookies["sessionid"].value != before
    assert [is_signed_in(laptop), is_signed_in(phone)] == [True, False]
    assert end_all_sessions(user=mara) and not is_signed_in(laptop)


def test_signed_links_are_taken_with_the_former_key(settings: LazySettings) -> None:
    link = Signer(salt="x").sign("17")
    replace(settings, FORMER)
    assert Signer(salt="x").unsign(link) == "17"


def test_nothing_uses_the_current_key_alone_but_what_may_be_forgotten() -> None:
    """Code that signs or encrypts must take all keys from `secret_keys`, or use Django's Signer, which knows the fallback keys itself."""
    sources = [file for folder in ("apps", "workers", "portal") for file in (ROOT / folder).rglob("*.py")]
    alone = {str(file.relative_to(ROOT)) for file in sources if "settings.SECRET_KEY" in file.read_text()}
    assert alone == {"apps/lib/secret_keys.py", "apps/accounts/bounded_cache.py", "apps/operations/host_heartbeats.py"}
    for file in sources:
        for call in re.findall(r"salted_hmac\([^\n]*", file.read_text()):
            assert "secret=" in call, (file, call)
