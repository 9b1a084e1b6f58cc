"""What prober and responder say to each other: two lines of ASCII over one connection, and a token over another, which the responder
opens to whoever asked.

    prober     netzwart-connect-back 1 <token of 32 hexadecimal digits> <limit in milliseconds>
    responder  connected <microseconds>      or      failed <reason>

The responder connects to the address that the request came from, at its own port, sends the token with a line feed, and expects the same
back. So it connects to nobody who has not completed a handshake with it, and its one packet with content is no longer than the request.
"""

import re
from dataclasses import dataclass
from typing import Final

from firewall.probe_messages import Connected

LONGEST_LINE: Final = 128  # octets
LONGEST_REASON: Final = 80  # characters: so many rounds fit into one answer of the prober
LONGEST_LIMIT_MS: Final = 1_000
LATE: Final = 5.0  # seconds that each side allows the other beside the limit, on a machine that is busy
_REQUEST: Final = re.compile(rb"netzwart-connect-back 1 ([0-9a-f]{32}) ([0-9]{1,4})\n")
_CONNECTED: Final = re.compile(rb"connected ([0-9]{1,9})\n")
_FAILED: Final = re.compile(rb"failed ([ -~]{1,80})\n")


@dataclass(frozen=True, slots=True)
class ConnectBack:
    """A request to connect back and to send this token. limit: seconds in which the connection must be accepted."""

    token: str
    limit: float


def render_request(request: ConnectBack) -> bytes:
    """Return the line of a request."""
    return f"netzwart-connect-back 1 {request.token} {round(request.limit * 1000)}\n".encode()


def parse_request(line: bytes) -> ConnectBack | None:
    """Return the request in this line; None if it is none."""
    found = _REQUEST.fullmatch(line)
    if not found or not 0 < int(found[2]) <= LONGEST_LIMIT_MS:
        return None
    return ConnectBack(found[1].decode(), int(found[2]) / 1000)


def render_outcome(connected: Connected) -> bytes:
    """Return the line that says how the connection went."""
    if connected.microseconds is not None:
        return f"connected {connected.microseconds}\n".encode()
    reason = "".join(each if each.isascii() and each.isprintable() else "?" for each in connected.error[:LONGEST_REASON])
    return f"failed {reason}\n".encode()


def parse_outcome(line: bytes) -> Connected | None:
    """Return how the connection went; None if the line does not say so."""
    if found := _CONNECTED.fullmatch(line):
        return Connected(int(found[1]))
    if found := _FAILED.fullmatch(line):
        return Connected(None, found[1].decode())
    return None
