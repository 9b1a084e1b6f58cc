"""Keeps a worker's lease on a rollout while it works, however long a gateway takes and however busy the interpreter is.

A separate process does it (`lease_keeper`): one for each process that drives rollouts, which ends with it.
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

SECONDS = 2.0  # a rollout that ends sooner needs no renewal


def renew_lease(rollout: Rollout) -> bool:
    """Renew the lease. Return False when it is lost."""
    mine = Rollout.objects.filter(pk=rollout.pk, state=Rollout.State.APPLYING, token=rollout.token)
    return mine.update(lease_until=Now() + LEASE) == 1


class KeeperProcess:
    """Handle of the process that keeps this process's leases; started on first use, and restarted when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def start(self) -> None:
        """Start the process ahead of time, so that it does not cost time later."""
        with self._lock:
            self._ensure_running()

    def send_message(self, message: dict[str, Any]) -> None:
        """Send it one message."""
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            try:
                self._write(line)
            except BrokenPipeError:  # it was killed; start it anew
                self._write(line)

    def _write(self, line: bytes) -> None:
        pipe = self._ensure_running().stdin
        if pipe:
            pipe.write(line)
            pipe.flush()

    def _ensure_running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-m", "apps.deployments.rollouts.lease_keeper"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=settings.ROOT)
        return self._process

    def close(self) -> None:
        """Close its input, so that it ends, and wait for it."""
        process, self._process = self._process, None
        if process:
            with suppress(BrokenPipeError):
                process.communicate()


_keeper = KeeperProcess()
atexit.register(_keeper.close)


class Leases:
    """The leases of one reconciliation, kept until it is over."""

    def __init__(self) -> None:
        self._kept: list[KeptLease] = []

    def keep(self, rollout: Rollout) -> None:
        """Keep the lease of this rollout as well."""
        kept = KeptLease(rollout.pk, rollout.token, SECONDS, LEASE.total_seconds(), _build_parameters())
        self._kept.append(kept)
        _keeper.send_message({"keep": asdict(kept)})

    def drop(self) -> None:
        """Stop keeping all of them."""
        for kept in self._kept:
            _keeper.send_message({"drop": [kept.rollout, kept.token]})


@contextmanager
def keep_leases() -> Iterator[Leases]:
    """Context in which leases can be kept; they are dropped at its end, or expire when the worker dies."""
    _keeper.start()
    leases = Leases()
    try:
        yield leases
    finally:
        leases.drop()


def _build_parameters() -> dict[str, Any]:
    """Return the parameters of this process's database connection for libpq, without the options for Django and its driver."""
    given = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    options = {name: value for name, value in given["OPTIONS"].items() if isinstance(value, str)}  # pool is Django's
    return options | {name: given[at] for name, at in names.items() if given[at]}
