"""Every command of docs/runbook.md, run where the page says: on a gateway of the lab, or on the portal."""

import io
import re
import shlex
import shutil
from contextlib import redirect_stdout
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from apps.bans.services import ban_prefix, create_list
from apps.deployments.management.commands import rollback
from apps.deployments.models import Revision
from apps.deployments.services import reconcile
from lab.lab import Lab
from tests import factories

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runbook.md").read_text()
SITUATIONS = [
    "Nothing works",
    "Slow in the evening",
    "One member",
    "A gateway died",
    "The portal died",
    "A bad deploy",
    "An attack",
    "Mail",
    "Disk full",
]
SYSTEMD = frozenset({"systemctl", "journalctl"})
PASSWORD = "correct horse battery"
UNITS = {each.name.removesuffix(".service") for each in (ROOT / "gateway" / "systemd").iterdir()}


def list_commands(prompt: str) -> list[str]:
    """Return the commands after this prompt, in the order of the page."""
    return re.findall(rf"^ +{re.escape(prompt)} (.+)$", PAGE, re.MULTILINE)


def test_the_page_has_every_situation_and_a_prompt_before_each_command() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    wanted = [
        "Nothing works",
        "Slow in the evening",
        "One member",
        "A gateway died",
        "The portal died",
        "A bad deploy",
        "An attack",
        "Mail",
        "Disk full",
    ]
    assert titles[: len(wanted)] == wanted
    blocks = re.findall(r"^ {7}(\S.*)$", PAGE, re.MULTILINE)
    assert all(each.startswith(("portal$ ", "gateway# ")) for each in blocks)
    assert len(blocks) == len(list_commands("portal$")) + len(list_commands("gateway#")) > 30


def test_commands_of_systemd_name_our_units() -> None:
    named = [
        word for line in list_commands("gateway#") if line.split()[0] in SYSTEMD for word in line.split() if word.startswith("netzwart-")
    ]
    assert named and set(named) <= UNITS


def test_every_command_for_a_gateway_works_there(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    wrong = []
    for line in list_commands("gateway#"):
        program = shlex.split(line)[0]
        if program in SYSTEMD:
            continue
        assert shutil.which(program), f"{program} is not installed here"
        done = lab.run("nat-1", ["sh", "-c", line], check=False)
        if done.returncode:
            wrong.append((line, done.stderr))
    assert wrong == []


def test_every_command_for_the_portal_works_there(
    lab: Lab, network: factories.Network, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollback, "getpass", lambda _prompt: PASSWORD)
    network.admin.set_password(PASSWORD)
    network.admin.save()
    reconcile(network.group)
    oldest = str(Revision.objects.get())
    banlist = create_list(name="Scans", by=network.admin)
    ban_prefix(list=banlist, prefix=ip_network("203.0.113.9/32"), author=network.admin)
    reconcile(network.group)
    for line in list_commands("portal$"):
        program, *words = shlex.split(line)
        if program == "manage.py":
            said = io.StringIO()
            with redirect_stdout(said):
                call_command(*(oldest if word == "r1" else word for word in words), stdout=said)
            assert said.getvalue().strip(), line
        elif program == "curl":
            path = "/" + words[-1].rpartition("/")[2]
            assert client.get(path).status_code in ((200, 503) if path == "/health" else (200,)), line
        else:
            assert shutil.which(program), line
