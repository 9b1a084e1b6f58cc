"""A process with the agent's code already loaded, which forks agents: a new Python spends twenty times as long on loading.

`python -m tests.db.agent_forks` reads a line of JSON for each agent, its log and its arguments, and answers with its process id.
"""

import gc
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final

from gateway.main import main

ROOT: Final = Path(__file__).parents[2]


@contextmanager
def forked_agent(log: Path, arguments: list[str]) -> Iterator[None]:
    """Run an agent with these arguments and end it. The test may have ended it before."""
    forks = _start_forks()
    assert forks.stdin and forks.stdout
    forks.stdin.write(json.dumps([str(log), *arguments]) + "\n")
    forks.stdin.flush()
    process = os.pidfd_open(int(forks.stdout.readline()))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGTERM)
        ended = select.select([process], [], [], 60)[0]
        os.close(process)
        assert ended, f"the agent does not end, see {log}"


@cache
def _start_forks() -> Popen[str]:
    """Start the process that forks. It ends with this one, when its standard input is closed."""
    return Popen([sys.executable, "-m", __name__], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)


def answer_lines() -> None:
    """Fork an agent for each line of standard input."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then buries those that end
    gc.freeze()
    for line in sys.stdin:
        log, *arguments = json.loads(line)
        if child := os.fork():
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
        else:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become_agent(log, arguments)


def become_agent(log: str, arguments: list[str]) -> None:
    """Run the agent in this process, with the descriptors of a new one, and exit."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(2, 1)
        status = main(arguments)
    finally:
        os._exit(status)


if __name__ == "__main__":
    answer_lines()
