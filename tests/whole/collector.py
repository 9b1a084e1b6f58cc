"""Collectors of counters that tests can kill. A process with Django loaded forks one for each line it reads, and prints its process id.

Each collector reads the counters of all gateways, one after the other and without a pause, until it is killed.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from threading import Event, Lock, Thread
from typing import NoReturn

LIVES = (0.05, 0.9)  # seconds: shortest and longest life of a collector


@contextmanager
def killed_at_random(environment: dict[str, str], seed: int, log: Path) -> Iterator[Callable[[], int]]:
    """Run two collectors at a time. Each is killed at a random moment and replaced; the yielded function returns how many were killed."""
    ended, killed, asking = Event(), [0, 0], Lock()
    with (
        log.open("a") as output,
        Popen([sys.executable, "-m", __spec__.name], env=environment, stdin=PIPE, stdout=PIPE, stderr=output, text=True) as nest,
    ):
        threads = [
            Thread(target=_kill_again_and_again, args=(nest, asking, Random(seed + at), ended, killed, at)) for at in range(len(killed))
        ]
        try:
            for thread in threads:
                thread.start()
            yield lambda: sum(killed)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
            nest.terminate()
    assert nest.returncode == -signal.SIGTERM, "the collectors' parent has failed"


def _kill_again_and_again(nest: Popen[str], asking: Lock, random: Random, ended: Event, killed: list[int], at: int) -> None:
    assert nest.stdin
    assert nest.stdout
    while not ended.is_set():
        with asking:
            nest.stdin.write("\n")
            nest.stdin.flush()
            hatched = int(nest.stdout.readline())
        ended.wait(random.uniform(*LIVES))
        with suppress(ProcessLookupError):
            os.kill(hatched, signal.SIGKILL)
            killed[at] += 1


def _collect() -> NoReturn:
    from apps.gateways.services import collect_counters
    from apps.network.models import Gateway

    while True:
        for gateway in Gateway.objects.order_by("?"):
            collect_counters(gateway)


def main() -> None:
    """Fork one collector for each line of standard input."""
    import django

    django.setup()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # to its log, so that nothing mixes with the process ids
            _collect()
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
