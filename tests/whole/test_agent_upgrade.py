"""An upgrade of both gateways' agents in the lab: rules stay loaded, packets pass, and a connection goes on through all of it."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from apps.deployments import services
from apps.deployments.models import Rollout
from apps.deployments.transport import agent_channel
from apps.gateways.agent_package.debian_package import build_package
from apps.gateways.agent_upgrade import driving, requesting
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.agent_upgrade.requesting import request_upgrade
from lab.lab import Lab
from tests import factories
from tests.agent.launched import SOURCES, LaunchedGateway
from tests.whole.system import GATEWAYS, INTERNET, PROBES, prober, wait_for
from tests.whole.tcp_streams import Speaker

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

LATER = build_package(SOURCES | {"gateway/brought_by_a_test.py": b'"""Nothing."""\n'})


@pytest.fixture
def gateways(bare_lab: Lab, sockets: Path) -> Iterator[dict[str, LaunchedGateway]]:
    """Agents under launchers, inside their nodes, each with its prober."""
    with ExitStack() as stack:
        found = {}
        for name in GATEWAYS:
            stack.enter_context(prober(bare_lab, name, sockets))
            home, more = sockets / name, ["--prober", str(sockets / f"{PROBES[name]}.sock")]
            home.mkdir()
            wrap = partial(bare_lab.build_command, name)
            found[name] = LaunchedGateway(home, name=name, socket=sockets / f"{name}.sock", more=more, wrap=wrap)
            stack.callback(found[name].close)
        yield found
        agent_channel.close_all_channels()


def test_a_connection_goes_on_through_the_upgrade_of_both_gateways(
    bare_lab: Lab, network: factories.Network, gateways: dict[str, LaunchedGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (driving, requesting):
        monkeypatch.setattr(module, "build_agent_package", lambda: LATER)
    made = services.reconcile(network.group)
    assert made and made.state == Rollout.State.CONFIRMED
    with closing(Speaker(bare_lab, "m1", INTERNET, up=True)) as speaker:
        run = request_upgrade(group=network.group)

        def is_over() -> bool:
            driving.advance_all()
            run.refresh_from_db()
            return run.state != AgentUpgrade.State.RUNNING

        wait_for(is_over, seconds=300)
        before = speaker.octets
        wait_for(lambda: speaker.octets > before)
    assert set(run.steps.values_list("state", flat=True)) == {AgentUpgradeStep.State.CONFIRMED}
    assert {each.read().runs for each in gateways.values()} == {LATER.program_digest}
    assert "table inet netzwart" in bare_lab.run("nat-1", ["nft", "list", "tables"]).stdout
