"""Relay program of a gateway's agent, as a value: a channel is reopened when its program changes."""

import sys
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.deployments.transport import ssh
from apps.deployments.transport.management_ports import list_ports
from apps.network.models import Gateway


@dataclass(frozen=True, slots=True)
class RelayProgram:
    """A program and its arguments, run without a shell. host_key: the key that ssh must find; "" without ssh. sshd: address and port to
    which ssh connects.
    """

    arguments: tuple[str, ...]
    host_key: str = ""
    sshd: tuple[str, int] = ("", 0)

    @property
    def is_far(self) -> bool:
        """True if it leads to another machine."""
        return bool(self.host_key)

    def prepare(self) -> None:
        """Write the files that the program needs. Raises OSError or ValueError."""
        if self.is_far:
            ssh.write_known_hosts(self.host_key)

    def explain(self, words: str) -> str:
        """Explain in a sentence what the program printed before it ended; "" if it printed nothing."""
        return ssh.explain_ssh_error(words, self.host_key) if self.is_far else ssh.get_last_line(words)

    def classify(self, words: str) -> ssh.SshFault | None:
        """Return what ended the session; None without ssh."""
        return ssh.classify_ssh_error(words) if self.is_far else None


def build_relay_programs(gateway: Gateway) -> tuple[RelayProgram, ...]:
    """Build the programs that may relay to the gateway's agent, the likeliest first: one for each port where its sshd may let the portal
    in.
    """
    if gateway.link == Gateway.Link.SSH:
        return tuple(build_relay_program(gateway, port) for port in list_ports(gateway))
    return (build_relay_program(gateway),)


def build_relay_program(gateway: Gateway, port: int | None = None) -> RelayProgram:
    """Build the program that relays to the gateway's agent. port: of its sshd; None: the one that was entered."""
    if gateway.link == Gateway.Link.SSH:
        port = port or gateway.management_port
        return RelayProgram(ssh.build_arguments(gateway, port), gateway.host_key, (str(gateway.address), port))
    relay = (sys.executable, "-m", "gateway", "relay", "--socket", str(get_socket_path(gateway)))
    if gateway.link == Gateway.Link.LOCAL or not settings.LAB_NAME:  # without a lab, agents run on this machine itself
        return RelayProgram(relay)
    lab = ("--name", settings.LAB_NAME, "--state", str(settings.LAB_STATE))
    return RelayProgram((sys.executable, "-m", "lab", *lab, "exec", gateway.agent_name, "--", *relay))


def get_socket_path(gateway: Gateway) -> Path:
    """Return the path of the agent's socket, if it runs on this machine."""
    return Path(settings.GATEWAY_SOCKETS) / f"{gateway.agent_name}.sock"
