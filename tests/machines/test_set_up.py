"""A person sets up a network with two machines that boot, in a browser, from an empty database to a forwarded packet.

With --pictures DIR, each step's page is written there as a picture, and the times as times.json.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from playwright.sync_api import Page

from apps.deployments.models import Rollout
from lab.lab import Lab
from lab.machines.virtual_machine import VirtualMachine
from tests.web.conftest import sign_in
from tests.web.first_steps import Portal, go_live, list_reached, run_empty_portal, see_packets_through, set_up_network
from tests.whole.from_nothing import MEMBERS
from tests.whole.system import GATEWAYS

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.machines]

ADDRESSES = {"nat-1": "172.31.0.11", "nat-2": "172.31.0.12"}
EXPOSURE = 2.0  # at most, of systemd-analyze(1): 0 is locked in, 10 is exposed


@pytest.fixture
def portal(
    patient_page: Page, machines: dict[str, VirtualMachine], portal_settings: LazySettings, sockets: Path, pytestconfig: pytest.Config
) -> Iterator[Portal]:
    """The portal's pages, before anybody has signed in."""
    pictures = pytestconfig.getoption("--pictures")
    with run_empty_portal(portal_settings, sockets):
        yield Portal(patient_page, Path(pictures) if pictures else None)


def test_two_machines_become_gateways_by_two_pastes_and_forward_to_members(
    portal: Portal, machines: dict[str, VirtualMachine], lab: Lab
) -> None:
    printed: dict[str, str] = {}

    def paste(name: str, command: str) -> str:
        done = machines[name].run(command)
        printed[name] = done.stdout + done.stderr
        return printed[name]

    sign_in(portal.page)
    set_up_network(portal, ADDRESSES, paste, after_join=lambda name: paste_probe(portal, machines[name]))
    assert not Rollout.objects.exists()
    with portal.step("live"):
        go_live(portal)
        see_packets_through(portal, GATEWAYS)
    for gateway in GATEWAYS:
        assert list_reached(lab, gateway) == [each.name for each in MEMBERS], gateway
    for machine in machines.values():
        assert read_exposure(machine) <= EXPOSURE
    if portal.pictures:
        (portal.pictures / "times.json").write_text(json.dumps({"times": portal.times, "printed": printed}, indent=1))


def paste_probe(portal: Portal, machine: VirtualMachine) -> None:
    """Run the command that the gateway's page shows."""
    shown = portal.page.get_by_role("region", name="Command of the probe")
    portal.take_picture(f"{machine.name}-probe")
    machine.run(shown.inner_text())


def read_exposure(machine: VirtualMachine) -> float:
    """Return how exposed systemd finds the agent's unit."""
    said = machine.run("systemd-analyze security --no-pager netzwart-agent.service").stdout
    return float(said.strip().splitlines()[-1].split(":")[1].split()[0])
