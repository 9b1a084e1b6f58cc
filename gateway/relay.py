"""Connects standard input and output to the agent's socket, for `ip netns exec` or an ssh forced command.

Octets pass unread. Memory is bounded because a piece is written before the next is read. Ends when the agent
does; the end of the input is passed on, and the last answers still come.
"""

import os
import socket
import sys
from pathlib import Path
from threading import Thread

_PIECE = 1 << 16


def relay(path: Path) -> int:
    """Relay until the agent closes the connection, which it does after its last answer if the input ends.

    Return 0, or 1 without an agent.
    """
    agent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        agent.connect(str(path))
    except OSError as error:
        sys.stderr.write(f"{explain_unreachable(path, error)}\n")
        return 1
    Thread(target=_send, args=(agent,), daemon=True).start()
    try:
        while piece := agent.recv(_PIECE):
            _write(piece)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return 0


def explain_unreachable(path: Path, error: OSError) -> str:
    """Return why the socket cannot be connected to, and what to do."""
    match error:
        case FileNotFoundError():
            return f"{path}: no such socket; is the agent running?"
        case ConnectionRefusedError():
            return f"{path}: no program listens there; start the agent"
        case PermissionError():
            return f"{path}: not permitted; only root and the agent's group may connect"
    return f"{path}: {error.strerror or error}"


def _send(agent: socket.socket) -> None:
    try:
        while piece := os.read(0, _PIECE):
            agent.sendall(piece)
        agent.shutdown(socket.SHUT_WR)
    except OSError:
        agent.close()


def _write(piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(1, rest) :]
