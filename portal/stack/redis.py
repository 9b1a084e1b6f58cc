"""A private Redis on a unix socket. In: the paths of a state directory. Out: a program to start."""

import shutil
import socket

from portal.stack.errors import StackError
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths


def build_url(places: StatePaths) -> str:
    return f"unix://{places.redis_socket}?db=0"


def build_program(places: StatePaths) -> Program:
    """Return the program of Redis with its defaults, but without a network port."""
    found = shutil.which("redis-server")
    if found is None:
        raise StackError("redis-server is not installed. Run script/bootstrap, or install the package redis-server.")
    places.redis.mkdir(parents=True, exist_ok=True)
    places.redis_socket.unlink(missing_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(places.redis_socket),
        "unixsocketperm": "700",
        "dir": str(places.redis),
        "loglevel": "warning",
        "daemonize": "no",
    }
    command = (found, *(part for name, value in options.items() for part in (f"--{name}", value)))
    return Program("redis", command, hush=".*")


def is_answering(places: StatePaths) -> bool:
    """Return whether the server on the socket answers PING with PONG."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(str(places.redis_socket))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
    except OSError:
        return False
