"""A gateway of the lab with its agent but without a portal: tests apply policies to it and open connections through it."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from time import time

from firewall import digest, wire
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import Policy
from firewall.ruleset import EMPTY, Ruleset
from lab.lab import Lab
from tests.agent.client import Client

TALK = """
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10)
connection.settimeout(4)
stream = connection.makefile("rwb")
print("open" if stream.readline() else "closed", flush=True)
for line in sys.stdin:
    try:
        stream.write(line.encode())
        stream.flush()
        print("alive" if stream.readline() else "closed", flush=True)
    except OSError:
        print("cut", flush=True)
"""


@dataclass
class GatewayInLab:
    """nat-1 with its agent, and connections through it."""

    lab: Lab
    client: Client
    stack: ExitStack
    ruleset: Ruleset = EMPTY
    token: int = 0

    def apply(self, wanted: Policy) -> int:
        """Apply the policy; return how many flows were cut."""
        self.token += 1
        before, after = self.ruleset, compile_policy(wanted)
        base, target = (digest.format_digest(digest.digest_ruleset(each)) for each in (before, after))
        applied = self.client.ask(wire.Apply(self.token, int(time()), base, target, diff(before, after), None, 60))
        assert isinstance(applied, wire.Applied), applied
        self.ruleset = after
        return applied.flows_cut

    def confirm(self, socket: Path) -> int:
        self.client.close()
        self.client = Client(socket)
        confirmed = self.client.ask(wire.Confirm(self.token, digest.format_digest(digest.digest_ruleset(self.ruleset))))
        assert isinstance(confirmed, wire.Confirmed), confirmed
        return confirmed.flows_cut

    def talk(self, node: str, host: str, port: int) -> Callable[[], str]:
        """Open a connection. The returned function sends a line and returns the connection's fate: “alive”, “closed” or “cut”."""
        inside = [sys.executable, "-c", TALK, host, str(port)]
        process: Popen[str] = self.stack.enter_context(self.lab.popen(node, inside, stdin=PIPE, stdout=PIPE))
        assert process.stdin
        assert process.stdout
        self.stack.callback(process.terminate)
        said, heard = process.stdin, process.stdout
        assert heard.readline() == "open\n"

        def say() -> str:
            said.write("still there?\n")
            said.flush()
            return heard.readline().strip()

        return say
