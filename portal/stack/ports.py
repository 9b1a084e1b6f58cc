"""Finds free ports of 127.0.0.1."""

import socket

from portal.stack.errors import StackError

TRIED = 100


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gunicorn does: a port in TIME_WAIT is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_free_port(port: int) -> int:
    """Return the first free port from this one on. Raises StackError if TRIED of them are taken."""
    last = min(port + TRIED, 65_536)
    for candidate in range(port, last):
        if is_free(candidate):
            return candidate
    raise StackError(f"No port from {port} to {last - 1} is free on 127.0.0.1. Choose another with --port.")


def require_free_port(port: int) -> None:
    if not is_free(port):
        raise StackError(f"Port {port} is taken by another program. {find_free_port(port)} is free: add --port {find_free_port(port)}")
