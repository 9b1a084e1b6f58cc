"""The machines of the lab's gateways as a person finds them: an agent and an sshd on each, and another machine in the place of one."""

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from apps.deployments.transport import agent_channel, ssh
from lab import sshd as lab_sshd
from lab.lab import Lab
from tests.whole.system import GATEWAYS, agent, sshd


class LabMachines:
    """What runs on the gateways' machines, until the block ends."""

    def __init__(self, lab: Lab, sockets: Path) -> None:
        self.lab, self.sockets = lab, sockets
        self._running = {name: ExitStack() for name in GATEWAYS}

    def __enter__(self) -> Self:
        for name in GATEWAYS:
            self._start(name)
        return self

    def __exit__(self, *_fault: object) -> None:
        agent_channel.close_all_channels()
        for stack in self._running.values():
            stack.close()

    def _start(self, name: str) -> None:
        """Start the agent and the sshd of a machine, as it was left or new."""
        self._running[name].enter_context(agent(self.lab, name, self.sockets, shared=True))
        self._running[name].enter_context(sshd(self.lab, name, self.sockets))

    def exchange(self, name: str) -> str:
        """Put another machine in the place of this gateway's: nothing of the old one is left. Return its host key's fingerprint."""
        agent_channel.close_all_channels()
        self._running[name].close()
        self.lab.run(name, ["nft", "delete", "table", "inet", "netzwart"])
        shutil.rmtree(self.sockets / name)
        shutil.rmtree(self.sockets / f"{name}.sshd")
        self._start(name)
        return ssh.compute_fingerprint(lab_sshd.ensure_host_key(self.sockets / f"{name}.sshd"))
