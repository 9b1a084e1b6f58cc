"""Fixtures of tests on machines that boot: two virtual machines in place of the lab's gateways, and the portal in its node of the lab.

Each test gets machines with fresh disks, which boot for a minute. Run them with `script/machines test`.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from django.conf import LazySettings
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.deployments.transport import agent_channel
from apps.gateways.joining import services
from apps.gateways.joining.examination import examine_machine
from apps.gateways.joining.install_command import build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import suggest_for_machine
from apps.network.models import Gateway
from lab.datagram import send_from
from lab.lab import Lab
from lab.machines.__main__ import NAME, STATE
from lab.machines.image import ensure_image, list_missing_programs
from lab.machines.placement import SUITES, choose_accelerator, prepare_machine, replace_gateway_nodes, wait_until_up
from lab.machines.virtual_machine import VirtualMachine
from lab.obstacles import list_obstacles
from lab.register import LabRegisterEntry
from lab.topology import load_topology
from tests import factories
from tests.web.conftest import chromium, page
from tests.whole.conftest import network, sockets
from tests.whole.system import inside, wait_for

__all__ = ["chromium", "network", "page", "sockets"]

PATIENCE = 900  # seconds: an emulated machine signs ssh keys slowly
STRANGER6 = "2001:db8:a0:99::1"  # no member holds it: only a machine without rules lets it pass
PORT = 9999


@pytest.fixture(scope="session", autouse=True)
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A lab with this thread in the portal's node, so that a server which starts later listens there."""
    if not request.config.getoption("--machines"):
        pytest.skip("needs machines that boot: script/machines test")
    if found := (*list_missing_programs(), *list_obstacles()):
        pytest.skip("; ".join(found))
    assert LabRegisterEntry(STATE, NAME).find() is None, "the machines are up; end them with: script/machines down"
    for suite, prepared in product(SUITES.values(), (False, True)):
        ensure_image(suite, STATE / "images", prepared=prepared)  # from a mirror, which the portal's node does not reach
    with Lab.start(load_topology()) as made, inside(made, "portal"):
        yield made


@pytest.fixture(scope="session")
def placed_machines(lab: Lab) -> list[VirtualMachine]:
    """The machines in place of the gateways' nodes, switched off."""
    made = replace_gateway_nodes(lab, STATE)
    accelerator = choose_accelerator(made[0])
    for machine in made:
        machine.accelerator = accelerator
    return made


@pytest.fixture
def machines(placed_machines: list[VirtualMachine]) -> Iterator[dict[str, VirtualMachine]]:
    """Both machines as a bare Debian that has booted, by name."""
    with run_machines(placed_machines) as running:
        yield running


@pytest.fixture
def prepared_machines(lab: Lab, placed_machines: list[VirtualMachine]) -> Iterator[dict[str, VirtualMachine]]:
    """The same with the packages that the agent needs, whose installation takes minutes on an emulated machine."""
    made = [prepare_machine(lab, each.name, STATE, prepared=True) for each in placed_machines]
    for machine in made:
        machine.accelerator = placed_machines[0].accelerator
    with run_machines(made) as running:
        yield running


@contextmanager
def run_machines(machines: Sequence[VirtualMachine]) -> Iterator[dict[str, VirtualMachine]]:
    """Boot the machines from fresh disks; cut their power at the end."""
    try:
        for machine in machines:
            machine.install()
            machine.switch_on()
        wait_until_up(machines)
        yield {machine.name: machine for machine in machines}
    finally:
        for machine in machines:
            machine.cut_power()


@pytest.fixture
def portal_settings(settings: LazySettings, sockets: Path, live_server: LiveServer) -> Iterator[LazySettings]:
    """Settings of a portal that machines reach at its address, and that has a key of its own."""
    settings.PORTAL_URL = live_server.url
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = sockets / "id_ed25519", sockets / "known_hosts.d"
    yield settings
    agent_channel.close_all_channels()


@pytest.fixture
def patient_page(page: Page) -> Page:
    """A page that waits for emulated machines."""
    expect.set_options(timeout=PATIENCE * 1000)
    page.set_default_timeout(PATIENCE * 1000)
    page.set_viewport_size({"width": 1280, "height": 800})
    return page


@pytest.fixture
def joined_machines(
    prepared_machines: Mapping[str, VirtualMachine], portal_settings: LazySettings, network: factories.Network
) -> dict[str, VirtualMachine]:
    """The machines, joined as the gateways of the lab's network, which have no rules yet."""
    Gateway.objects.all().delete()
    rows = {name: begin_joining(machine, network) for name, machine in prepared_machines.items()}
    with ThreadPoolExecutor() as both:
        pastes = [both.submit(machine.run, get_command(rows[name])) for name, machine in prepared_machines.items()]
    for each in pastes:
        each.result()
    for name, row in rows.items():
        finish_joining(row, network, carries=[4] if name == "nat-1" else [6])
    return dict(prepared_machines)


def begin_joining(machine: VirtualMachine, network: factories.Network) -> JoiningMachine:
    address = machine.node.list_ip_addresses(4, "management")[0]
    return _examine(services.begin_joining(name=machine.name, group=network.group, address=address, port=22))


def get_command(row: JoiningMachine) -> str:
    """Return what the portal's page shows to be pasted on the machine."""
    command = build_install_command(row)
    assert command, row.problem
    return command.text


def find_joined(row: JoiningMachine) -> JoiningMachine:
    """Accept the machine's host key; return the machine when its agent answers."""
    row = _examine(row)
    if not row.host_key:
        services.accept_host_key(machine=row, fingerprint_key=row.seen_key)
    ready = wait_for(lambda: _find_ready(row), seconds=PATIENCE)
    assert ready
    return ready


def finish_joining(row: JoiningMachine, network: factories.Network, carries: list[int]) -> Gateway:
    """Accept the host key, and choose the interfaces that the portal suggests."""
    ready = find_joined(row)
    facts = ready.parse_facts()
    assert facts
    found = suggest_for_machine(ready, facts)
    return services.finish_joining(
        machine=ready, lan=found.lan, wan=found.wan, management=found.management, sync="sync0", carries=carries,
        management_networks=found.networks, by=network.admin,
    )  # fmt: skip


def _find_ready(row: JoiningMachine) -> JoiningMachine | None:
    """Return the machine if its agent answers by now."""
    found = _examine(row)
    return found if found.is_ready else None


def _examine(machine: JoiningMachine) -> JoiningMachine:
    found = examine_machine(machine.pk)
    assert found
    return found


def reboot(machines: Mapping[str, VirtualMachine]) -> None:
    """Reboot the machines at the same time, and return when both are up again."""
    before = {name: read_boot(machine) for name, machine in machines.items()}
    for machine in machines.values():
        machine.run("systemctl reboot", check=False)
    for name, machine in machines.items():
        wait_for(partial(_is_another_boot, machine, before[name]), seconds=PATIENCE)


def _is_another_boot(machine: VirtualMachine, before: str) -> bool:
    return read_boot(machine) not in ("", before)


def read_boot(machine: VirtualMachine) -> str:
    """Return the id of the machine's boot; "" if it does not answer."""
    return machine.run("cat /proc/sys/kernel/random/boot_id", check=False).stdout.strip()


@dataclass
class Traffic:
    """Datagrams of a member, whom the rules translate, and of a stranger in the members' network, whom they drop."""

    lab: Lab
    sent: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    def _send(self) -> None:
        with inside(self.lab, "m1"):
            while not self._ended.wait(0.005):
                send_from(("10.16.0.10", PORT), ("203.0.113.99", PORT), b"member")  # no host there: it would answer
                send_from((STRANGER6, PORT), ("2001:db8:cafe::99", PORT), b"stranger")
                self.sent += 2

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Send all the time, some 300 datagrams a second."""
        thread = threading.Thread(target=self._send, daemon=True)
        thread.start()
        yield
        self._ended.set()
        thread.join()
