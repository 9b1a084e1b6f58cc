"""Single sign-on against an OpenID provider that runs here: authorization code with PKCE, signed tokens, over HTTP on loopback."""

import base64
import hashlib
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
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from tests import rows
from tests.db.pages import text
from tests.db.test_signing_in import again, sign_in

CLIENT, SECRET = "netzwart", "a secret between the two"
ADDRESS = "ines@lindenhof.example"


class Provider:
    """Who signs in there, and what it says of that person."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {"sub": "4711", "email": ADDRESS, "email_verified": True, "name": "Ines Adler"}
        self.codes: dict[str, dict[str, str]] = {}
        self.refused: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def configuration(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo", "jwks_uri": "keys"}
        named = {name: f"{self.url}/{path}" for name, path in paths.items()}
        return named | {"issuer": self.url, "token_endpoint_auth_methods_supported": ["client_secret_post"]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes back to."""
        assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (CLIENT, "code", "S256")
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str]) -> dict[str, Any] | None:
        """An access token and an identity, once for each code; None if the verifier or the secret is not that of the request."""
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"] or given.get("client_secret") != SECRET:
            self.refused.append(given.get("code", ""))
            return None
        now = int(time.time())
        claims = self.claims | {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300}
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "let me in", "token_type": "Bearer", "id_token": signed}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                at = urlsplit(self.path)
                if at.path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider.authorize({name: values[0] for name, values in parse_qs(at.query).items()}))
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
                """Quiet."""

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
    user = rows.user("ines", staff=False)
    EmailAddress.objects.create(user=user, email=ADDRESS, primary=True, verified=True)
    return user


def over_there(client: Client, process: str) -> Any:
    """Goes to the provider and comes back, as a browser does; what the portal says then."""
    away = client.post(f"/account/oidc/sso/login/?process={process}")
    assert away.status_code == 302, text(away)
    back = requests.get(away["Location"], allow_redirects=False, timeout=30).headers["Location"]
    return client.get(back.removeprefix("http://testserver"))


def connect(client: Client) -> Any:
    sign_in(client, "ines")
    again(client)
    return over_there(client, "connect")


def test_an_account_is_connected_by_its_owner_and_then_signs_in(ines: User, provider: Provider) -> None:
    refused = over_there(Client(), "login")
    assert refused.status_code == 403
    assert "Sign in with your password once" in text(refused)
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
