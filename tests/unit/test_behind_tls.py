"""Settings of a portal behind a proxy that terminates TLS."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import django
django.setup()
from django.conf import settings
from django.test import RequestFactory
print(settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_SECURE, settings.SECURE_HSTS_SECONDS > 0)
for sent in ("https", "http"):
    request = RequestFactory(headers={"host": "localhost", "x-forwarded-proto": sent}).get("/members/")
    print(request.build_absolute_uri())
"""


@cache
def start_portal(https: str) -> list[str]:
    """Return what a portal that starts with this setting says of its cookies, and of requests with each header of the proxy."""
    known = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings", "NETZWART_SECRET_KEY": "x" * 50, "NETZWART_HTTPS": https}
    return subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=known, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(("https", "over_tls"), [("1", "https"), ("", "http")])
def test_with_tls_the_proxy_says_how_a_request_came_and_without_nobody_does(https: str, over_tls: str) -> None:
    assert start_portal(https)[1:] == [f"{over_tls}://localhost/members/", "http://localhost/members/"]


@pytest.mark.parametrize(
    ("https", "expected"), [("1", "__Host-sessionid __Host-csrftoken True True"), ("", "sessionid csrftoken False False")]
)
def test_over_tls_cookies_are_of_this_host_alone_and_browsers_come_back_over_tls(https: str, expected: str) -> None:
    assert start_portal(https)[0] == expected
