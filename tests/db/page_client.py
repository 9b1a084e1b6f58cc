"""What tests of pages share: a browser's requests without a browser, and how many queries one takes."""

from time import time
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from tests.markup import squeeze_markup

HTMX = {"HX-Request": "true"}


def signed_in(user: User, *, seconds_ago: float = 0) -> Client:
    """Somebody who has signed in, by password, so long ago."""
    client = Client()
    client.force_login(user)
    confirm(client, user, "password", seconds_ago)
    return client


def confirm(client: Client, user: User, method: str = "mfa", seconds_ago: float = 0) -> None:
    """The person of this session has confirmed who they are, as allauth notes it."""
    session = client.session
    session["account_authentication_methods"] = [{"method": method, "at": time() - seconds_ago, "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


def queries(client: Client, path: str) -> int:
    """How many queries the page takes."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, response
    return len(captured)


def text(response: Any) -> str:
    """The page as text, with its markup but without the line breaks of its templates; the response came in time and well."""
    assert isinstance(response, HttpResponse)
    content = response.content.decode()
    return squeeze_markup(content) if response.headers.get("Content-Type", "").startswith("text/html") else content


def list_messages(response: Any) -> list[str]:
    """The messages that the next page shows."""
    return [str(message) for message in response.context["messages"]] if response.context else []
