"""What a host of the lab answers to whoever connects to it: one line of JSON."""

import json
from typing import NamedTuple

LONGEST_LINE = 65536  # octets, of the answer and of what is echoed


class HostAnswer(NamedTuple):
    """`address` and `port` are what was reached, `peer_*` is from where, both as seen by the node that answers."""

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
