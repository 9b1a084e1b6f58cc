"""The commands of docs/exports.md that fetch a file, run as they are printed there, with the real sh and curl and a live server."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from apps.accounts import tokens
from apps.members.models import Device
from tests import factories

PAGE = (configured.ROOT / "docs" / "exports.md").read_text()
[LINES] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.django_db(transaction=True)
def test_a_file_is_fetched_once_and_then_only_when_it_changed_and_stays_when_it_cannot_be_had(live_server: Any, tmp_path: Path) -> None:
    network = factories.network()
    _token, key = tokens.create_token(user=network.admin, name="dns", scopes=["export:read"])

    def fetched(key: str, portal: str = live_server.url) -> bool:
        known = {"PATH": "/usr/bin:/bin", "TOKEN": key, "PORTAL": portal}
        done = subprocess.run(["sh", "-c", f"{LINES}\nfetch names.zone zone"], cwd=tmp_path, env=known, check=False, timeout=60)
        return done.returncode == 0

    assert [fetched(key), fetched(key), fetched(key)] == [True, False, False]
    before = (tmp_path / "zone").read_text()
    assert not fetched("nw_unknown") and not fetched(key, "http://127.0.0.1:1")
    assert not fetched(key), "a failure takes nothing of what is known"
    Device.objects.filter(name__startswith="Laptop").update(name="Notebook")
    assert fetched(key) and not fetched(key)
    assert "laptop" in before and "notebook" in (tmp_path / "zone").read_text()
