"""The answer of a lab host to a client: one line of JSON."""

import json
from typing import NamedTuple

LONGEST_LINE = 65536  # octets, of the answer and of each echoed line
ANSWER = b'{"node": '  # what each answer begins with


class HostAnswer(NamedTuple):
    """A host's answer: the `address` and `port` that the client reached and the client's own (`peer_*`), as the answering node
    sees them.
    """

    node: str
    protocol: str
    address: str
    port: int
    peer_address: str
    peer_port: int

    def to_line(self) -> bytes:
        return json.dumps(self._asdict()).encode() + b"\n"


def parse_answer(line: str | bytes) -> HostAnswer:
    return HostAnswer(**json.loads(line))
