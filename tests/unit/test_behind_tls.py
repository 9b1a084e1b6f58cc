"""Settings of a portal behind a proxy that speaks TLS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import django
django.setup()
from django.test import RequestFactory
for sent in ("https", "http"):
    request = RequestFactory(headers={"host": "localhost", "x-forwarded-proto": sent}).get("/members/")
    print(request.build_absolute_uri())
"""


@pytest.mark.parametrize(("https", "over_tls"), [("1", "https"), ("", "http")])
def test_with_tls_the_proxy_says_how_a_request_came_and_without_nobody_does(https: str, over_tls: str) -> None:
    known = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings", "NETZWART_SECRET_KEY": "x" * 50, "NETZWART_HTTPS": https}
    said = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=known, capture_output=True, text=True, check=True).stdout
    assert said.split() == [f"{over_tls}://localhost/members/", "http://localhost/members/"]
