"""Single sign-on with an OpenID provider in this process: authorization code with PKCE, signed tokens, over HTTP on loopback."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from apps.desk.lifecycle.erasing import erase_member
from tests import factories
from tests.db.page_client import text
from tests.db.test_signing_in import reauthenticate, sign_in

CLIENT, SECRET = "netzwart", "a secret between the two"
ADDRESS = "ines@lindenhof.example"


class Provider:
    """OpenID provider on loopback, with the claims about the account that signs in there."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {"sub": "4711", "email": ADDRESS, "email_verified": True, "name": "Ines Adler"}
        self.sid = "session-1"
        self.codes: dict[str, dict[str, str]] = {}
        self.refused: list[str] = []
        self.ended: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def configuration(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo", "jwks_uri": "keys"}
        paths |= {"end_session_endpoint": "end"}
        named = {name: f"{self.url}/{path}" for name, path in paths.items()}
        return named | {"issuer": self.url, "token_endpoint_auth_methods_supported": ["client_secret_post"]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Return the address to which the provider redirects the browser."""
        assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (CLIENT, "code", "S256")
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str]) -> dict[str, Any] | None:
        """Return an access token and an ID token, once for each code, or None if the code, the verifier or the client secret is wrong."""
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"] or given.get("client_secret") != SECRET:
            self.refused.append(given.get("code", ""))
            return None
        now = int(time.time())
        claims = (
            {"nonce": asked.get("nonce", "")}
            | self.claims
            | {"sid": self.sid, "iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300}
        )
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "let me in", "token_type": "Bearer", "id_token": signed}

    def logout_token(self, *without: str, key: Any = None, kid: str = "1", **changes: Any) -> str:
        """Return the logout token that the provider sends after a sign-out there."""
        now = int(time.time())
        claims: dict[str, Any] = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 120, "jti": f"{time.monotonic_ns()}"}
        claims |= {"sub": "4711", "events": {"http://schemas.openid.net/event/backchannel-logout": {}}} | changes
        kept = {name: value for name, value in claims.items() if name not in without}
        return jwt.encode(kept, key or self.key, algorithm="RS256", headers={"kid": kid, "typ": "logout+jwt"})

    def end(self, asked: dict[str, str]) -> str:
        """End the session that the ID token hint names, and return the address to which the provider redirects the browser."""
        claims = jwt.decode(asked["id_token_hint"], self.key.public_key(), algorithms=["RS256"], audience=CLIENT)
        self.ended.append(claims["sid"])
        return f"{asked['post_logout_redirect_uri']}?{urlencode({'state': asked['state']})}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                at = urlsplit(self.path)
                if at.path in ("/authorize", "/end"):
                    asked = {name: values[0] for name, values in parse_qs(at.query).items()}
                    self.send_response(302)
                    self.send_header("Location", provider.authorize(asked) if at.path == "/authorize" else provider.end(asked))
                    self.end_headers()
                    return
                if at.path == "/userinfo":
                    self.answer(provider.claims if self.headers["Authorization"] == "Bearer let me in" else None)
                    return
                key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(provider.key.public_key())) | {"kid": "1"}
                self.answer({"keys": [key]} if at.path == "/keys" else provider.configuration())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.answer(provider.token({name: values[0] for name, values in parse_qs(body).items()}))

            def answer(self, body: dict[str, Any] | None) -> None:
                text = json.dumps(body or {"error": "invalid_grant"}).encode()
                self.send_response(200 if body else 400)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args: Any) -> None:
                """Log nothing."""

        return Handler


@pytest.fixture
def provider(settings: LazySettings) -> Iterator[Provider]:
    made = Provider()
    app = {"provider_id": "sso", "name": "Computing centre", "client_id": CLIENT, "secret": SECRET, "settings": {"server_url": made.url}}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def ines(db: None) -> User:
    user = factories.user("ines", staff=False)
    EmailAddress.objects.create(user=user, email=ADDRESS, primary=True, verified=True)
    return user


def over_there(client: Client, process: str) -> Any:
    """Go to the provider and back as a browser does, and return the portal's answer."""
    away = client.post(f"/account/oidc/sso/login/?process={process}")
    assert away.status_code == 302, text(away)
    back = requests.get(away["Location"], allow_redirects=False, timeout=30).headers["Location"]
    return client.get(back.removeprefix("http://testserver"))


def connect(client: Client) -> Any:
    sign_in(client, "ines")
    reauthenticate(client)
    return over_there(client, "connect")


def test_an_account_is_connected_by_its_owner_and_then_signs_in(ines: User, provider: Provider) -> None:
    refused = over_there(Client(), "login")
    assert refused.status_code == 403
    assert "Sign in once with your password" in text(refused)
    assert not SocialAccount.objects.exists()
    assert connect(Client()).status_code == 302
    assert SocialAccount.objects.get().user == ines
    client = Client()
    assert "Computing centre" in text(client.get("/account/login/"))
    assert over_there(client, "login")["Location"] == "/"
    assert client.get("/account/").status_code == 200
    assert provider.refused == []


@pytest.mark.parametrize("said", [{"email_verified": False}, {"email": "somebody@else.example"}])
def test_an_address_that_is_not_confirmed_on_both_sides_connects_nothing(ines: User, provider: Provider, said: dict[str, Any]) -> None:
    provider.claims |= said
    refused = connect(Client())
    assert refused.status_code == 403
    assert "are not connected" in text(refused)
    assert not SocialAccount.objects.exists()


def test_nobody_gets_an_account_because_a_provider_knows_him(db: None, provider: Provider) -> None:
    assert over_there(Client(), "login").status_code == 403
    assert not User.objects.exists()


def test_a_forged_state_or_a_stolen_code_signs_nobody_in(ines: User, provider: Provider) -> None:
    connect(Client())
    away = Client().post("/account/oidc/sso/login/?process=login")
    back = requests.get(away["Location"], allow_redirects=False, timeout=30).headers["Location"]
    thief = Client()
    assert thief.get(back.removeprefix("http://testserver")).status_code != 302
    assert thief.get("/account/").status_code == 302


@pytest.mark.parametrize("nonce", ["", "that of another sign-in"])
def test_an_id_token_of_another_sign_in_signs_nobody_in(ines: User, provider: Provider, nonce: str) -> None:
    connect(Client())
    provider.claims |= {"nonce": nonce}
    client = Client()
    assert over_there(client, "login").status_code != 302
    assert client.get("/account/").status_code == 302


def test_what_the_provider_said_is_erased_with_the_members_data(ines: User, provider: Provider) -> None:
    connect(Client())
    assert "Ines Adler" in str(SocialAccount.objects.get().extra_data)
    assert erase_member(factories.member(user=ines, state="left"))
    assert not SocialAccount.objects.exists()


def signed_in_over_there(provider: Provider, sid: str) -> Client:
    """Return another browser of the same account, signed in through the provider."""
    client, provider.sid = Client(), sid
    over_there(client, "login")
    assert is_in(client)
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def tells(token: str) -> int:
    """Send the provider's back-channel logout request, and return the portal's status code."""
    answer = Client().post("/account/back-channel-logout/", {"logout_token": token})
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code


def test_signing_out_here_signs_out_there_and_says_so_only_when_the_state_comes_back(ines: User, provider: Provider) -> None:
    connect(Client())
    client = signed_in_over_there(provider, "phone")
    away = client.post("/account/logout/")["Location"]
    assert away.startswith(f"{provider.url}/end?")
    assert not is_in(client)
    back = requests.get(away, allow_redirects=False, timeout=30).headers["Location"].removeprefix("http://testserver")
    assert provider.ended == ["phone"]
    assert "You are signed out, here and at" not in text(client.get("/account/signed-out/?state=forged", follow=True))
    assert "You are signed out, here and at" not in text(client.get(back, follow=True))
    client = signed_in_over_there(provider, "laptop")
    back = requests.get(client.post("/account/logout/")["Location"], allow_redirects=False, timeout=30).headers["Location"]
    assert "You are signed out, here and at Computing centre." in text(client.get(back.removeprefix("http://testserver"), follow=True))
    with_password = Client()
    sign_in(with_password, "ines")
    assert with_password.post("/account/logout/")["Location"] == "/account/login/"


def test_the_provider_ends_one_session_or_all_that_it_opened_and_no_other(ines: User, provider: Provider) -> None:
    with_password = Client()
    connect(Client())
    sign_in(with_password, "ines")
    phone, laptop, tablet = (signed_in_over_there(provider, sid) for sid in ("phone", "laptop", "tablet"))
    assert tells(provider.logout_token(sid="phone")) == 200
    assert [is_in(each) for each in (phone, laptop, tablet, with_password)] == [False, True, True, True]
    assert tells(provider.logout_token("sub", sid="tablet")) == 200
    assert [is_in(each) for each in (laptop, tablet, with_password)] == [True, False, True]
    assert tells(provider.logout_token(sub="somebody else")) == 200
    assert is_in(laptop)
    assert tells(provider.logout_token()) == 200
    assert [is_in(each) for each in (laptop, with_password)] == [False, True]


def test_a_session_that_a_password_opened_stays_its_own_when_it_connects_a_provider(ines: User, provider: Provider) -> None:
    client = Client()
    connect(client)
    over_there(client, "connect")  # again, though already connected
    assert tells(provider.logout_token()) == 200
    assert is_in(client)
    assert client.post("/account/logout/")["Location"] == "/account/login/"
    assert provider.ended == []


def test_a_logout_token_that_lacks_anything_ends_nothing(ines: User, provider: Provider) -> None:
    connect(Client())
    client, now = signed_in_over_there(provider, "phone"), int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = provider.key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    claims = jwt.decode(provider.logout_token(), options={"verify_signature": False})
    refused = [
        "", "nonsense", "a" * 20_000,
        jwt.encode(claims, "", algorithm="none"),
        *(provider.logout_token(name) for name in ("iss", "aud", "iat", "exp", "jti", "events")),
        provider.logout_token("sub"),
        provider.logout_token(key=stranger), provider.logout_token(kid="2"),
        provider.logout_token(iss="https://elsewhere.example"), provider.logout_token(aud="another"),
        provider.logout_token(iat=now + 3600), provider.logout_token(iat=now - 3600), provider.logout_token(exp=now - 3600),
        provider.logout_token(iat=str(now)), provider.logout_token(exp=str(now + 60)), provider.logout_token(jti=""),
        provider.logout_token(nonce="n"), provider.logout_token(events={}), provider.logout_token(events=["logout"]),
        provider.logout_token(events={"http://schemas.openid.net/event/backchannel-logout": "yes"}),
        f"{provider.logout_token()}x", hmac_signed(claims, public),
    ]  # fmt: skip
    assert [tells(token) for token in refused] == [400] * len(refused)
    assert is_in(client)
    once = provider.logout_token(sub="somebody else")
    assert (tells(once), tells(once)) == (200, 400)
    assert Client().get("/account/back-channel-logout/").status_code == 405


def hmac_signed(claims: dict[str, Any], secret: bytes) -> str:
    """Sign the claims with HMAC, to attack verifiers that accept any algorithm: the provider's public key is the secret."""
    parts = [base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in ({"alg": "HS256", "kid": "1"}, claims)]
    signature = base64.urlsafe_b64encode(hmac.digest(secret, b".".join(parts), "sha256")).rstrip(b"=")
    return b".".join([*parts, signature]).decode()
