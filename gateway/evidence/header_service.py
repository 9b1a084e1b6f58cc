"""Takes packet headers in a process of its own, so that the agent's needs no right to see packets (netzwart-headers.socket).

systemd starts one process for each connection to the socket, and hands it over as standard input. The agent sends one line of JSON; the
answer is a line of JSON, and the file behind it.
"""

import json
import socket
from collections.abc import Collection
from pathlib import Path
from threading import Event

from firewall.codec import WireError, decode, encode
from firewall.evidence import LARGEST, MOST_INTERFACES, SECONDS, CollectEvidence, EvidenceKind
from gateway.evidence.capture import HeaderCapture
from gateway.evidence.part import Deadline, PartContent, PartMissingError

GRACE = 5.0  # seconds beside those of the request
_LONGEST_LINE = 4096
_RECEIVE = 1 << 16


def take_headers(interfaces: Collection[str], seconds: int, deadline: Deadline) -> PartContent:
    """Take headers in this process. Raises PartMissingError."""
    capture = HeaderCapture(interfaces)
    try:
        return capture.run(seconds, deadline)
    finally:
        capture.close()


def answer_one_request(peer: socket.socket) -> None:
    """Read one request and write the answer. Raises OSError, WireError."""
    peer.settimeout(GRACE)
    request = _parse_request(_read_line(peer)[0])
    try:
        taken = take_headers(request.interfaces, request.seconds, Deadline(request.seconds + GRACE, Event()))
    except PartMissingError as missing:
        taken = PartContent(b"", str(missing))
    peer.sendall(json.dumps({"note": taken.note}).encode() + b"\n" + taken.octets)


def _parse_request(line: bytes) -> CollectEvidence:
    try:
        request: CollectEvidence = decode(CollectEvidence, json.loads(line), "request")
    except ValueError as error:
        raise WireError(f"request: {error}") from error
    if request.seconds not in SECONDS or len(request.interfaces) > MOST_INTERFACES:
        raise WireError("request: seconds or interfaces are out of range")
    return request


def ask_for_headers(path: Path, request: CollectEvidence, deadline: Deadline) -> PartContent:
    """Return what the process behind this socket has taken. Raises PartMissingError."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(GRACE + request.seconds)
            peer.connect(str(path))
            peer.sendall(json.dumps(encode(request)).encode() + b"\n")
            line, octets = _read_line(peer)
            note: str = decode(str, json.loads(line).get("note"), "answer.note")
            return PartContent(_read_rest(peer, octets, deadline), note)
    except (OSError, ValueError, AttributeError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise PartMissingError(f"No packets at {path}: {words}. Is netzwart-headers.socket active?") from error


def _read_line(peer: socket.socket) -> tuple[bytes, bytes]:
    """Return the first line, and what came behind it."""
    octets = b""
    while b"\n" not in octets:
        piece = peer.recv(_RECEIVE)
        octets += piece
        if not piece or len(octets) > _LONGEST_LINE + _RECEIVE:
            raise WireError("it closed the connection" if not piece else "the line is too long")
    line, _, rest = octets.partition(b"\n")
    return line, rest


def _read_rest(peer: socket.socket, octets: bytes, deadline: Deadline) -> bytes:
    pieces, length = [octets], len(octets)
    while (piece := peer.recv(_RECEIVE)) and not deadline.is_over:
        length += len(piece)
        if length > LARGEST[EvidenceKind.HEADERS]:
            raise WireError("it sends too much")
        pieces.append(piece)
    return b"".join(pieces)
