"""Django's own check of a deployment, which asks the database for its version."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def manage(*arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "NETZWART_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz" * 2, **given}
    return subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=known, capture_output=True, text=True, check=False)


def test_djangos_own_check_of_a_deployment_finds_nothing() -> None:
    said = manage("check", "--deploy", "--fail-level", "WARNING", NETZWART_HTTPS="1", NETZWART_ALLOWED_HOSTS="portal.example.org")
    assert said.returncode == 0, said.stderr
    assert "WARNINGS" not in said.stderr


def test_a_portal_that_others_reach_does_not_start_until_it_is_said_whether_over_tls() -> None:
    said = manage("check", NETZWART_HTTPS="", NETZWART_ALLOWED_HOSTS="portal.example.org,localhost")
    assert said.returncode != 0
    assert "NETZWART_HTTPS is not set" in said.stderr
    for https, hosts in (("0", "portal.example.org"), ("1", "portal.example.org"), ("", "localhost,127.0.0.1,[::1]")):
        assert manage("check", NETZWART_HTTPS=https, NETZWART_ALLOWED_HOSTS=hosts).returncode == 0, (https, hosts)
    assert "It must be 1 behind a proxy" in manage("check", NETZWART_HTTPS="yes").stderr
