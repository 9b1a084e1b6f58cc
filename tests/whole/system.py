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
PROBES = {"nat-1": "probe-1", "nat-2": "probe-2"}
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
    """One gateway's service, and its prober's; killed at the end, its table stays."""
    asked, answers = sockets / f"{name}.sock", sockets / f"{PROBES[name]}.sock"
    serve = ["serve", "--name", name, "--socket", str(asked), "--state", str(sockets / name), "--prober", str(answers)]
    with prober(lab, name, sockets), _service(lab, name, sockets, serve) as process:
        wait_for(asked.exists)
        yield process


@contextmanager
def prober(lab: Lab, name: str, sockets: Path) -> Iterator[Popen[str]]:
    """What connects through the gateway of this name, in the node beside it."""
    socket = sockets / f"{PROBES[name]}.sock"
    with _service(lab, PROBES[name], sockets, ["prober", "--socket", str(socket)]) as process:
        wait_for(socket.exists)
        yield process


@contextmanager
def _service(lab: Lab, node: str, sockets: Path, arguments: list[str]) -> Iterator[Popen[str]]:
    log = (sockets / f"{node}.log").open("a")
    with log, lab.popen(node, [sys.executable, "-m", "gateway", *arguments], stdout=log, stderr=log) as process:
        try:
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
