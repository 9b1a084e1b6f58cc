"""The whole system with failover: both gateways with their agents, keepalived and conntrackd, which the tests of one file share.

The programs run on from test to test. Each test begins with new agents and a new database, with no connection tracked, and with the
first gateway as the carrier of both families.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from firewall.failover import ProgramPaths, StateCacheMode
from lab.failover import (
    CABLES,
    FailoverPrograms,
    await_sole_carrier,
    await_standby,
    list_carriers,
    route_to_virtual_addresses,
    run_failover_pair,
)
from lab.lab import Lab
from tests import factories
from tests.whole.loaded_policy import MEMBERS, load
from tests.whole.system import GATEWAYS, wait_for

FIRST, OTHER = GATEWAYS
SECOND = 100  # centiseconds between advertisements: a gateway that waits for the processor for two seconds is not taken for dead
LOOSE = "/proc/sys/net/netfilter/nf_conntrack_tcp_loose"


@contextmanager
def run_programs(lab: Lab, cache: StateCacheMode = StateCacheMode.DIRECT) -> Iterator[dict[str, FailoverPrograms]]:
    """Run the programs of both gateways, which forward by a policy of the test until an agent loads another.

    The kernels pick up no connection whose beginning they have not seen.
    """
    load(lab, MEMBERS)
    for name in GATEWAYS:
        lab.run(name, ["sh", "-c", f"echo 0 >{LOOSE}"])
    route_to_virtual_addresses(lab)
    with run_failover_pair(lab, cache=cache, interval=SECOND) as programs:
        yield programs


@dataclass
class FailoverSystem:
    """Two gateways that are one, with agents and rows. `sockets`: where the agents answer."""

    lab: Lab
    network: factories.Network
    programs: dict[str, FailoverPrograms]
    sockets: Path

    def begin_anew(self) -> None:
        """Mend what was broken, forget all connections, and let the first gateway carry both families."""
        for name, programs in self.programs.items():
            programs.mend(*CABLES)
            programs.call("resume")
            self.lab.run(name, ["conntrack", "-F"])
        for family in (4, 6):
            wait_for(lambda family=family: len(list_carriers(self.lab, family)) == 1)  # type: ignore[misc]  # mypy knows no default here
        if list_carriers(self.lab, 4) + list_carriers(self.lab, 6) != [FIRST, FIRST]:
            self.move(OTHER, FIRST)
        await_standby(self.programs[OTHER])

    def deploy(self, cause: str = "change") -> Rollout:
        """Roll the desired state out, and return the rollout, which may have failed."""
        rollout = reconcile(self.network.group, cause=cause)
        assert rollout
        return rollout

    def hide_agent(self, name: str) -> None:
        """Make this gateway's agent unreachable for the portal, as a cut management cable does. The gateway forwards on."""
        agent_channel.close_all_channels()
        self._get_socket(name).rename(self._get_hidden(name))

    def show_agent(self, name: str) -> None:
        """Make the agent reachable again."""
        self._get_hidden(name).rename(self._get_socket(name))

    @contextmanager
    def answer_no_new_session(self, name: str) -> Iterator[None]:
        """Let the agent answer over the channels that are open, and over no new one, so that a change of rules stays on trial."""
        agent = self._get_socket(name)
        agent.rename(self._get_hidden(name))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
            mute.bind(str(agent))
            mute.listen()
            yield
        self._get_hidden(name).rename(agent)

    def kill(self, name: str) -> None:
        """Cut this gateway off from everything: a machine that hangs, with its memory as it was."""
        self.hide_agent(name)
        self.programs[name].cut(*CABLES)

    def revive(self, name: str) -> None:
        """Bring a gateway back that was killed. It stands by."""
        self.programs[name].mend(*CABLES)
        self.show_agent(name)
        await_standby(self.programs[name])

    def await_takeover(self, name: str) -> None:
        """Wait until this gateway carries both families, whatever another one takes itself for."""
        wait_for(lambda: name in list_carriers(self.lab, 4) and name in list_carriers(self.lab, 6))

    def move(self, source: str, target: str) -> None:
        """Let the target carry both families, and the source stand by."""
        self.programs[source].call("drain")
        await_sole_carrier(self.lab, target)
        self.programs[source].call("resume")
        await_standby(self.programs[source])

    def send_states(self, name: str) -> None:
        """Let this gateway send all its states to the other one, as one does that takes itself for the carrier."""
        self.lab.run(name, ["conntrackd", "-C", ProgramPaths.build_for_lab(name).conntrackd, "-B"])

    def has_flow(self, name: str, *words: str) -> bool:
        """Return whether an established connection that the gateway tracks has all these words."""
        rows = self.lab.run(name, ["conntrack", "-L", "-p", "tcp", "--state", "ESTABLISHED"]).stdout.splitlines()
        return any(all(word in row.split() for word in words) for row in rows)

    def has_cached_flow(self, name: str, *words: str) -> bool:
        """Return whether conntrackd has an established connection of the other gateway in memory that has all these words."""
        rows = self.lab.run(name, ["conntrackd", "-C", ProgramPaths.build_for_lab(name).conntrackd, "-e"]).stdout.splitlines()
        return any(all(word in row.split() for word in ("ESTABLISHED", *words)) for row in rows)

    def _get_socket(self, name: str) -> Path:
        return self.sockets / f"{name}.sock"

    def _get_hidden(self, name: str) -> Path:
        return self.sockets / f"{name}.hidden"
