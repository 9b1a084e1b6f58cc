"""The whole on one machine: a lab, an agent in each gateway's node, and what a test needs to wait for them."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from lab.answer import Answer
from lab.connect import NoAnswerError
from lab.lab import Lab

GATEWAYS = ("nat-1", "nat-2")
INTERNET = "203.0.113.10"


def wait_for[Value](what: Callable[[], Value], *, seconds: float = 15) -> Value:
    """The first true value of `what`. Fails when there is none in time."""
    give_up = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < give_up, f"waited {seconds} s in vain"
        time.sleep(0.02)
    return value


@contextmanager
def agents(lab: Lab, sockets: Path) -> Iterator[dict[str, Popen[str]]]:
    """The service of each gateway, inside its node, answering at sockets/<name>.sock."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(agent(lab, name, sockets)) for name in GATEWAYS}


@contextmanager
def agent(lab: Lab, name: str, sockets: Path) -> Iterator[Popen[str]]:
    """One gateway's service; killed at the end, its table stays."""
    socket = sockets / f"{name}.sock"
    serve = [sys.executable, "-m", "gateway", "serve", "--name", name, "--socket", str(socket), "--state", str(sockets / name)]
    log = (sockets / f"{name}.log").open("a")
    with log, lab.popen(name, serve, stdout=log, stderr=log) as process:
        try:
            wait_for(socket.exists)
            yield process
        finally:
            process.terminate()
            process.wait(10)


def reaches(lab: Lab, node: str, host: str, port: int, protocol: str = "tcp", **options: Any) -> Answer | None:
    """What answers there, or None."""
    try:
        return lab.connect(node, protocol, host, port, timeout=1.0, **options)
    except NoAnswerError:
        return None
