"""Answers for a passkey that no browser sends: each form refuses them in words, and says nothing of its insides."""

import json
from base64 import urlsafe_b64encode
from typing import Any, Final

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client

from apps.accounts.models import User
from tests import factories
from tests.db.page_client import signed_in, text

PASSWORD: Final = "correct horse battery"
REFUSED: Final = "This passkey was not accepted. Try again."


def encode(octets: bytes) -> str:
    return urlsafe_b64encode(octets).decode().rstrip("=")


CLIENT_DATA: Final = encode(json.dumps({"type": "webauthn.get", "challenge": encode(b"challenge"), "origin": "http://testserver"}).encode())
ANSWER: Final[dict[str, Any]] = {
    "id": encode(b"key"),
    "rawId": encode(b"key"),
    "type": "public-key",
    "response": {
        "clientDataJSON": CLIENT_DATA,
        "attestationObject": encode(b"\xa0"),
        "authenticatorData": encode(bytes(37)),
        "signature": encode(b"signature"),
        "userHandle": encode(b"1"),
    },
}


def build_answer(**response: Any) -> str:
    return json.dumps(ANSWER | {"response": ANSWER["response"] | response})


MALFORMED: Final = {
    "no_object": "[]",
    "a_number": "1",
    "too_deep": "[" * 100_000,
    "empty": "{}",
    "no_response": json.dumps(ANSWER | {"response": None}),
    "a_list_as_response": json.dumps(ANSWER | {"response": [1]}),
    "a_number_as_id": json.dumps(ANSWER | {"rawId": 1}),
    "no_base64": build_answer(clientDataJSON="é"),
    "client_data_no_object": build_answer(clientDataJSON=encode(b"[]")),
    "client_data_without_challenge": build_answer(clientDataJSON=encode(b'{"type": "webauthn.get"}')),
    "client_data_with_a_number": build_answer(clientDataJSON=encode(b'{"type": "webauthn.get", "challenge": 1, "origin": 1}')),
    "client_data_too_deep": build_answer(clientDataJSON=encode(b"[" * 100_000)),
    "client_data_no_text": build_answer(clientDataJSON=encode(b"\xff")),
    "authenticator_data_cut_off": build_answer(authenticatorData=encode(b"\x00" * 30)),
    "authenticator_data_with_half_a_key": build_answer(authenticatorData=encode(bytes(32) + b"\x41" + bytes(4) + bytes(10))),
    "authenticator_data_with_bad_extensions": build_answer(authenticatorData=encode(bytes(32) + b"\x81" + bytes(4) + b"\xbf\xff")),
    "attestation_cut_off": build_answer(attestationObject=encode(b"\xa3\x63")),
    "attestation_too_deep": build_answer(attestationObject=encode(b"\x81" * 100_000)),
    "attestation_with_a_list_as_key": build_answer(attestationObject=encode(b"\xa1\x80\x00")),
    "a_user_that_is_none": build_answer(userHandle=encode(b"nobody")),
    "a_user_beyond_all_numbers": build_answer(userHandle=encode(b"9" * 30)),
    "a_user_as_a_number": build_answer(userHandle=1),
}


@pytest.fixture
def mara(db: None) -> User:
    return factories.user()


def start_challenge(client: Client) -> Client:
    client.get("/account/second-factor/webauthn/login/", headers={"X-Requested-With": "XMLHttpRequest"})
    return client


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_instead_of_a_password(mara: User, answer: str) -> None:
    client = start_challenge(Client())
    told = client.post("/account/second-factor/webauthn/login/", {"credential": answer}, follow=True)
    assert told.status_code == 200 and REFUSED in text(told)


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_after_the_password(mara: User, answer: str) -> None:
    TOTP.activate(mara, generate_totp_secret())
    client = Client()
    client.post("/account/login/", {"login": mara.username, "password": PASSWORD})
    client.get("/account/second-factor/authenticate/")
    told = client.post("/account/second-factor/authenticate/", {"credential": answer})
    assert told.status_code == 200 and REFUSED in text(told)


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_as_a_new_one(mara: User, answer: str) -> None:
    client = signed_in(mara)
    client.get("/account/second-factor/webauthn/add/")
    told = client.post("/account/second-factor/webauthn/add/", {"name": "Key", "credential": answer})
    assert told.status_code == 200 and REFUSED in text(told)
