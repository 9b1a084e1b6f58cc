"""The tasks of docs/api.md, run as they are printed there, with the real curl and a live server."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from apps.accounts import tokens
from apps.members.models import Tariff
from tests import factories

PAGE = (configured.ROOT / "docs" / "api.md").read_text()
TASK = re.compile(r"^\*\*(\d+)\. .*?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(curl .*?)  # (\d{3})$", re.MULTILINE | re.DOTALL)
LEARNT = {"2": "member", "3": "holding", "4": "forward", "7": "list", "8": "block"}
"""Which id, that later commands use, the first answer of a task tells."""
CURL = """
set -eu
curl() { command curl -sS -o "$into/$(ls "$into" | wc -l)" -w '%{http_code}\\n' "$@"; }
"""


def run(script: str, known: dict[str, object], into: Path) -> tuple[list[str], list[Any]]:
    """Run the script and return the status and the body of each answer."""
    into.mkdir()
    values = {name: str(value) for name, value in known.items()} | {"into": str(into), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", CURL + script], env=values, capture_output=True, text=True, check=True, timeout=120)
    answers = [(into / str(number)).read_text() for number in range(len(done.stdout.split()))]
    return done.stdout.split(), [json.loads(text) if text else None for text in answers]


@pytest.mark.django_db(transaction=True)
def test_every_task_of_the_page_is_done_by_its_commands(live_server: Any, tmp_path: Path) -> None:
    network = factories.network()
    _token, key = tokens.create_token(user=network.admin, name="script")
    known: dict[str, object] = {
        "api": f"{live_server.url}/api",
        "auth": f"Authorization: Bearer {key}",
        "json": "Content-Type: application/json",
        "tariff": Tariff.objects.get().pk,
        "pool": network.private.pk,
        "gateway": network.gateways[0].pk,
        "group": network.group.pk,
    }
    tasks = TASK.findall(PAGE)
    assert [number for number, _commands in tasks] == [str(number) for number in range(1, 14)]
    for number, commands in tasks:
        for at, (command, code) in enumerate(COMMAND.findall(commands)):
            [status], [answer] = run(command, known, tmp_path / f"{number}-{at}")
            assert status == code, (number, command, answer)
            if at == 0 and number in LEARNT:
                known[LEARNT[number]] = answer["id"]
