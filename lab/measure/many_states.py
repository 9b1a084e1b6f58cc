"""Opens many UDP flows through a gateway, each answered twice, so that connection tracking keeps them as assured for minutes.

A shared public address has some 30,000 ports for each destination, and few more than 12,000 that are still found at random."""

import socket
from argparse import ArgumentParser
from typing import NamedTuple

from lab.measure.output import report

FIRST = 20_000  # port
AT_ONCE = 200


class ManyStatesReport(NamedTuple):
    """The number of flows that were opened and answered."""

    flows: int


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.many_states", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("number", type=int, help="flows to each host")
    parser.add_argument("hosts", nargs="+")
    given = parser.parse_args()
    for host in given.hosts:
        for start in range(FIRST, FIRST + given.number, AT_ONCE):
            talk(host, given.port, range(start, min(start + AT_ONCE, FIRST + given.number)))
    report(ManyStatesReport(given.number * len(given.hosts)))


def talk(host: str, port: int, own_ports: range) -> None:
    """Exchange three datagrams from each of these ports."""
    flows = []
    for own in own_ports:
        flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flow.settimeout(5)
        flow.bind(("", own))
        flow.connect((host, port))
        flows.append(flow)
    for _ in range(3):
        for flow in flows:
            flow.send(b"?")
        for flow in flows:
            flow.recv(4096)
    for flow in flows:
        flow.close()
