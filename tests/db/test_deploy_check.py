"""Django's checks for a portal that others reach (`manage.py check --deploy`), with the settings that docs/install.md has one set."""

import os
import secrets
import subprocess

import pytest

from portal.programs import PYTHON, ROOT
from tests.whole.worker import environment

INSTALLED = {
    "NETZWART_ALLOWED_HOSTS": "portal.example.org",
    "NETZWART_HTTPS": "1",
    "NETZWART_URL": "https://portal.example.org",
    "NETZWART_EVENTS_URL": "/events/",
    "NETZWART_TRUSTED_PROXIES": "127.0.0.1/32,::1/128",
}


@pytest.mark.django_db(transaction=True)
def test_an_installed_portal_passes_djangos_checks_for_deployment() -> None:
    given = {**os.environ, **environment("redis://127.0.0.1:1/0"), **INSTALLED, "NETZWART_SECRET_KEY": secrets.token_urlsafe(50)}
    command = [PYTHON, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
