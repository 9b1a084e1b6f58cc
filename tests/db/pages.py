"""What tests of pages share: a browser's requests without a browser, and how many queries one takes."""

from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User

HTMX = {"HX-Request": "true"}


def signed_in(user: User) -> Client:
    """Somebody who has signed in."""
    client = Client()
    client.force_login(user)
    return client


def queries(client: Client, path: str) -> int:
    """How many queries the page takes."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, response
    return len(captured)


def text(response: Any) -> str:
    """The page as text, with its markup; the response came in time and well."""
    assert isinstance(response, HttpResponse)
    return response.content.decode()


def said(response: Any) -> list[str]:
    """The messages that the next page shows."""
    return [str(message) for message in response.context["messages"]] if response.context else []
