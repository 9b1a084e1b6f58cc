"""Helpers for tests of pages: requests like a browser's, and a count of the queries that one takes."""

import re
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
    """Return a client of the user, signed in by password that many seconds ago."""
    client = Client()
    client.force_login(user)
    confirm(client, user, "password", seconds_ago)
    return client


def confirm(client: Client, user: User, method: str = "mfa", seconds_ago: float = 0) -> None:
    """Record in the session, as allauth does, that the user has confirmed who they are."""
    session = client.session
    session["account_authentication_methods"] = [{"method": method, "at": time() - seconds_ago, "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


def queries(client: Client, path: str) -> int:
    """Return how many queries the page takes when it is loaded for the second time."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, response
    return len(captured)


def text(response: Any) -> str:
    """Return the page as text, with its markup but without the line breaks of its templates. Fails for streamed responses."""
    assert isinstance(response, HttpResponse)
    content = response.content.decode()
    return squeeze_markup(content) if response.headers.get("Content-Type", "").startswith("text/html") else content


def read_preview_mark(client: Client, path: str, data: dict[str, Any]) -> dict[str, str]:
    """Ask for the preview of a bulk action, and return the hidden fields that say what it was made of."""
    return dict(re.findall(r'name="(previewed\w*)" value="([^"]*)"', text(client.post(path, data))))


def confirm_preview(client: Client, path: str, data: dict[str, Any], **changes: Any) -> Any:
    """Ask for the preview of a bulk action, press its button, and follow to the next page. changes: what is entered between both."""
    return client.post(path, data | read_preview_mark(client, path, data) | {"confirmed": "1"} | changes, follow=True)


def get_form_input(response: Any) -> dict[str, Any]:
    """Return what a browser sends from the page's form when nobody has changed anything in it."""
    return {each.html_name: each.field.widget.format_value(each.value()) or "" for each in response.context["form"]}


def list_messages(response: Any) -> list[str]:
    """Return the messages that the response shows."""
    return [str(message) for message in response.context["messages"]] if response.context else []
