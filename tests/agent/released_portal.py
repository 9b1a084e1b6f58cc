"""What a portal of the last release does, as a program: it is run with the sources of that release, and imports nothing of this one.

`python released_portal.py SOCKET` asks an agent everything that such a portal asks, and prints the answers as JSON, without what
differs from one run to the next.
"""

import json
import sys
import time
from ipaddress import IPv4Network, ip_address
from pathlib import Path

from firewall import wire
from firewall.conntrack_timeouts import ReadTimeouts
from firewall.evidence import CollectEvidence
from firewall.file_trial import FileTrial
from firewall.health import ReadHealth
from firewall.live_trace import Look, Watch
from firewall.machine import Describe
from firewall.probe_messages import Probe, ReadProbes, Target
from firewall.roles import Drain, Roles
from firewall.ruleset import Ruleset
from tests.agent.client import Client
from tests.agent.rulesets import ban, network, step, text_of, whole

TARGETS = (Target(ip_address("192.0.2.9"), 80),)
READINGS: tuple[wire.Request, ...] = (
    wire.Drift(int(time.time())),
    wire.Counters("", 0),
    wire.Gauges(),
    Describe(),
    ReadHealth(),
    Probe(TARGETS, 100),
    ReadProbes(TARGETS, 2000, 100, "", 0),
    ReadTimeouts(),
    Roles(),
    Drain((), False),
    FileTrial(),
    Watch(IPv4Network("192.0.2.0/24"), None, 0, 0, "", 1, 1),
    Look(1, 0, end=True),
    CollectEvidence(("lo",), 1),
)


def describe_answer(answer: wire.Reply) -> str:
    """Return the kind of the answer, the reason of a refusal, and the digest that it tells."""
    detail = answer.reason if isinstance(answer, wire.Refused) else getattr(answer, "digest", "")
    return f"{type(answer).__name__} {detail}".rstrip()


def deploy(socket: Path, request: wire.Apply) -> list[wire.Reply]:
    """Apply, and confirm over a new connection."""
    answers = []
    for each in (wire.Hello(request.now, request.token), request, wire.Confirm(request.token, request.target)):
        client = Client(socket)
        answers.append(client.ask(each))
        client.close()
    return answers


def main(socket: Path) -> None:
    """Ask everything, and print the answers."""
    now, before, after = int(time.time()), network(20), network(21, ban("203.0.113.9/32"))
    client = Client(socket)
    answers = [client.ask(wire.Hello(now)), client.ask(wire.Plan(now, before))]
    answers += deploy(socket, whole(before, token=1, now=now))
    answers += deploy(socket, step(before, after, token=2, now=now))
    answers += [client.ask(wire.Apply(3, now, "", text_of(Ruleset()), None, Ruleset(), 60)), client.ask(wire.Revert(3))]
    answers += [client.ask(wire.Digest(now)), *map(client.ask, READINGS)]
    sys.stdout.write(json.dumps([describe_answer(each) for each in answers]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
