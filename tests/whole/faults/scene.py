"""The scene of the faults: a deployed network in a lab, with everything that people read: a page, a mailbox, a webhook."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
from django.test import override_settings

from apps.accounts.models import User
from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.deployments import services
from apps.deployments.models import Rollout
from apps.deployments.transport import agent_channel
from apps.gateways.packet_probes.models import ProbeStatus
from apps.lib import enqueue
from apps.network.models import GatewayGroup
from apps.operations.models import ProcessRole
from lab.lab import Lab
from lab.topology import load_topology
from tests import factories
from tests.fake_http import FakeAnswer, Server, serving
from tests.fake_smtp import Post, post
from tests.webhook_receiver import Receiver, receiving
from tests.whole.system import (
    GATEWAYS,
    RESPONDER_PORT,
    agent,
    descendants,
    inside,
    quick_probes,
    reached_by_ssh,
    read_probes,
    responder,
    sshd,
)
from tests.whole.worker import broker

PATIENCE = 4.0  # seconds without an octet, instead of ten, so that a dead gateway costs less; an agent that works says so each second
ADDRESS = "mara@lindenhof.example"


@dataclass
class FaultScene:
    """The running scene.

    network: rows of the present test. feed: a web server with a list of addresses. silent_roles: programs of the portal that give no sign
    of life.
    """

    lab: Lab
    sockets: Path
    mailbox: Post
    webhook: Receiver
    feed: Server
    network: factories.Network = field(init=False)
    agents: dict[str, Popen[str]] = field(default_factory=dict)
    ssh_servers: dict[str, Popen[str]] = field(default_factory=dict)
    silent_roles: set[ProcessRole] = field(default_factory=set)
    _running: dict[str, ExitStack] = field(default_factory=dict)

    def run(self, node: str, line: str) -> None:
        """Run a line of shell in the node. Raises CalledProcessError."""
        self.lab.run(node, ["sh", "-ec", line])

    def start_agent(self, name: str) -> None:
        """Start the agent of a gateway, with the state that it has."""
        self.agents[name] = self._start(f"agent of {name}", agent(self.lab, name, self.sockets, shared=True))

    def end_agent(self, name: str) -> None:
        self._running[f"agent of {name}"].close()

    def start_sshd(self, name: str) -> None:
        """Start the sshd of a gateway, which lets the portal's key in."""
        self.ssh_servers[name] = self._start(f"sshd of {name}", sshd(self.lab, name, self.sockets))

    def end_sshd(self, name: str) -> None:
        """End the sshd of a gateway, with the sessions that are open."""
        sessions = descendants(self.ssh_servers[name].pid)[1:]
        self._running[f"sshd of {name}"].close()
        for pid in sessions:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def start_responder(self) -> None:
        """Start the program on the internet that connects back to the probes."""
        self._start("responder", responder(self.lab, self.sockets))

    def end_responder(self) -> None:
        self._running["responder"].close()

    def start_redis(self) -> None:
        self._start("Redis", broker(self.sockets))

    def end_redis(self) -> None:
        self._running["Redis"].close()

    def _start[Program](self, what: str, program: AbstractContextManager[Program]) -> Program:
        return self._running.setdefault(what, ExitStack()).enter_context(program)

    def enter_mounts(self, program: Popen[str], line: str) -> None:
        """Run a line of shell where this program sees its files. Raises CalledProcessError."""
        inner = descendants(program.pid)[-1]
        subprocess.run(
            ["nsenter", "--target", str(inner), "--mount", "--pid", "sh", "-ec", line], check=True, capture_output=True, text=True
        )

    def close(self) -> None:
        """End all programs."""
        agent_channel.close_all_channels()
        for stack in self._running.values():
            stack.close()


@contextmanager
def open_scene() -> Iterator[FaultScene]:
    """Build the scene, and end it with the block. This thread is in the portal's node meanwhile, and so are the servers."""
    with (
        TemporaryDirectory(prefix="nw-") as directory,
        Lab.start(load_topology()) as lab,
        inside(lab, "portal"),
        post() as mailbox,
        receiving() as webhook,
        serving(FakeAnswer(body=b"203.0.113.200\n")) as feed,
        override_settings(**_build_settings(Path(directory), mailbox)),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(agent_channel, "PATIENCE", PATIENCE)
        quick_probes(patch)
        patch.setattr(agent_channel, "OPENING", 2 * PATIENCE)
        enqueue._get_publisher.cache_clear()
        scene = FaultScene(lab, Path(directory), mailbox, webhook, feed)
        try:
            scene.start_redis()
            scene.start_responder()
            for name in GATEWAYS:
                scene.start_agent(name)
                scene.start_sshd(name)
            yield scene
        finally:
            scene.close()
            enqueue._get_publisher.cache_clear()


def _build_settings(directory: Path, mailbox: Post) -> dict[str, object]:
    server = mailbox.server
    return {
        "GATEWAY_SOCKETS": directory,
        "SSH_KEY": directory / "id_ed25519",
        "SSH_KNOWN_HOSTS": directory / "known_hosts.d",
        "REDIS_URL": f"unix://{directory / 'redis.sock'}",
        "MAIL_SERVER": {"host": server.host, "port": server.port, "tls": "", "user": "", "password": ""},
        "FEED_PRIVATE": True,
    }


def deploy_network(scene: FaultScene) -> User:
    """Fill the empty database with the lab's network, deploy it, and let its administrator be told by mail and by webhook."""
    scene.network = network = factories.network()
    factories.probes(network)
    GatewayGroup.objects.update(
        heals_drift=False,  # what is changed by hand stays, so that it is a fault that lasts
        responder_port=RESPONDER_PORT,
    )
    reached_by_ssh(scene.lab, network.gateways, scene.sockets)
    User.objects.filter(pk=network.admin.pk).update(email=ADDRESS)
    add_channel(facts=ChannelFacts(name="Hook", target=f"json://{urlsplit(scene.webhook.url).netloc}/alarms"), by=network.admin)
    network.group.refresh_from_db()
    rollout = services.reconcile(network.group)
    assert rollout and rollout.state == Rollout.State.CONFIRMED, rollout and rollout.error
    read_probes(1)
    ProbeStatus.objects.update(recent=[], lost_echoes=[])  # the probers go on from fault to fault, and remember
    return network.admin
