"""Keeps a worker's lease on a rollout while it works on it, however long a gateway takes and whatever keeps the interpreter busy.

A process of its own does it (`lease_keeper`), one for each process that drives rollouts; it ends with it.
"""

import atexit
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from threading import Lock
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from apps.deployments.models import Rollout
from apps.deployments.rollouts.lease_keeper import KeptLease
from apps.deployments.rollouts.rollout_store import LEASE

SECONDS = 2.0  # a rollout that is over sooner never beats


def renew_lease(rollout: Rollout) -> bool:
    """Keep the lease. False when it was lost."""
    mine = Rollout.objects.filter(pk=rollout.pk, state=Rollout.State.APPLYING, token=rollout.token)
    return mine.update(lease_until=Now() + LEASE) == 1


class KeeperProcess:
    """The process that keeps this one's leases; started when it is needed first, and again when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def start(self) -> None:
        """Let it be there, so that it need not be started when time is short."""
        with self._lock:
            self._running()

    def tell(self, message: dict[str, Any]) -> None:
        """Send it one message."""
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            try:
                self._write(line)
            except BrokenPipeError:  # somebody has killed it
                self._write(line)

    def _write(self, line: bytes) -> None:
        pipe = self._running().stdin
        if pipe:
            pipe.write(line)
            pipe.flush()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-m", "apps.deployments.rollouts.lease_keeper"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=settings.ROOT)
        return self._process

    def close(self) -> None:
        """It ends when its input does."""
        process, self._process = self._process, None
        if process:
            with suppress(BrokenPipeError):
                process.communicate()


_keeper = KeeperProcess()
atexit.register(_keeper.close)


class Leases:
    """The leases that are kept until the work is over."""

    def __init__(self) -> None:
        self._kept: list[KeptLease] = []

    def keep(self, rollout: Rollout) -> None:
        """Keep this one, too."""
        kept = KeptLease(rollout.pk, rollout.token, SECONDS, LEASE.total_seconds(), _build_parameters())
        self._kept.append(kept)
        _keeper.tell({"keep": asdict(kept)})

    def drop(self) -> None:
        """Keep none of them any longer."""
        for kept in self._kept:
            _keeper.tell({"drop": [kept.rollout, kept.token]})


@contextmanager
def keep_leases() -> Iterator[Leases]:
    """What is kept within is kept until the end, or until the worker does not live any more."""
    _keeper.start()
    leases = Leases()
    try:
        yield leases
    finally:
        leases.drop()


def _build_parameters() -> dict[str, Any]:
    """As libpq takes it: what this process connects with, without what is meant for Django and its driver."""
    given = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    options = {name: value for name, value in given["OPTIONS"].items() if isinstance(value, str)}  # pool is Django's
    return options | {name: given[at] for name, at in names.items() if given[at]}
