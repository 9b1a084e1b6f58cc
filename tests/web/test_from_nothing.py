"""From an empty portal with one administrator to a TCP connection to a member, in a browser, along the page of the first steps."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import LazySettings
from playwright.sync_api import Page

from apps.deployments.models import Rollout
from apps.deployments.transport import agent_channel, ssh
from apps.gateways.agent_package.debian_package import build_agent_package
from apps.network.models import GatewayGroup
from lab.lab import Lab
from lab.sshd import ensure_host_key
from portal.stack.sshd import ensure_portal_key
from tests.web.conftest import sign_in
from tests.web.first_steps import Paste, Portal, go_live, list_reached, run_empty_portal, see_packets_through, set_up_network
from tests.whole.conftest import keep_keys
from tests.whole.from_nothing import MEMBERS
from tests.whole.system import GATEWAYS, agents, inside, sshd

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]

ADDRESSES = {"nat-1": "172.31.0.11", "nat-2": "172.31.0.12"}
JOIN = re.compile(r"netzwart-join (\S+) --from 172\.31\.0\.1 --key '(ssh-ed25519 [^']+)'")


@pytest.fixture
def portal(page: Page, bare_lab: Lab, machines: Paste, sockets: Path, settings: LazySettings) -> Iterator[Portal]:
    """The portal's pages, before anybody has signed in."""
    with run_empty_portal(settings, sockets):
        yield Portal(page)


@pytest.fixture
def machines(bare_lab: Lab, sockets: Path, settings: LazySettings) -> Iterator[Paste]:
    """Two machines of the lab that run the agent, and that no one reaches by ssh before the command was pasted."""
    keep_keys(settings, sockets)
    with agents(bare_lab, sockets, shared=True), ExitStack() as stack:

        def paste(name: str, command: str) -> str:
            """Let the portal's key in, as netzwart-join does at the end of the command."""
            joined = JOIN.search(command)
            assert joined and joined.groups() == (name, ensure_portal_key(sockets / "id_ed25519").removesuffix(" netzwart"))
            assert build_agent_package().digest in command
            stack.enter_context(sshd(bare_lab, name, sockets))
            return ssh.compute_fingerprint(ensure_host_key(sockets / f"{name}.sshd"))

        with inside(bare_lab, "portal"):
            yield paste
        agent_channel.close_all_channels()


def test_a_person_sets_up_a_network_and_reaches_a_member_through_each_gateway(portal: Portal, bare_lab: Lab, machines: Paste) -> None:
    sign_in(portal.page)
    set_up_network(portal, ADDRESSES, machines, after_join=lambda _name: None)
    assert not Rollout.objects.exists()
    go_live(portal)
    assert GatewayGroup.objects.get().live_since
    see_packets_through(portal, GATEWAYS)
    for gateway in GATEWAYS:
        assert list_reached(bare_lab, gateway) == [each.name for each in MEMBERS], gateway
