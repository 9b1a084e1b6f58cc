"""Process that renews a worker's leases, even while the worker's interpreter is busy. Uses the standard library and psycopg only.

Reads lines of JSON from standard input: {"keep": KeptLease} and {"drop": [rollout, token]}. Renews a lease as long as the worker
that started this process lives: it is not stopped, or it has used processor time since the last check (a machine that schedules
it in turns stops it now and then). When the worker dies, standard input ends and so does this process; the lease expires and
another worker takes over.
"""

import json
import os
import selectors
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

RENEW = """
    UPDATE deployments_rollout SET lease_until = clock_timestamp() + make_interval(secs => %s)
    WHERE id = %s AND token = %s AND state = 'applying'
"""
STOPPED = b"TtZX"  # states of a stopped or dead process in proc(5)
CONNECT = 5  # seconds: timeout of an attempt to connect to the database
LINE = 1 << 16  # octets read at once


@dataclass(frozen=True, slots=True)
class KeptLease:
    """A lease to renew: rollout id and fencing token; renewed every `every` seconds, for `seconds` each. database: libpq parameters."""

    rollout: int
    token: int
    every: float
    seconds: float
    database: dict[str, Any]


class WorkerProcess:
    """The process that started this one."""

    def __init__(self, pid: int) -> None:
        self._pid, self._used = pid, -1

    def is_alive(self) -> bool:
        """True if the worker exists, and is not stopped or has used processor time since the last check."""
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        before, self._used = self._used, int(fields[11]) + int(fields[12])
        return fields[0] not in STOPPED or self._used > before >= 0


class LeaseKeeper:
    """Renews the leases in its care."""

    def __init__(self, worker: WorkerProcess) -> None:
        self._worker = worker
        self._due: dict[tuple[int, int], tuple[float, KeptLease]] = {}
        self._connection: psycopg.Connection[Any] | None = None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the next renewal is due; None when there is no lease."""
        return max(min(at for at, _ in self._due.values()) - time.monotonic(), 0.0) if self._due else None

    def obey(self, line: bytes) -> None:
        """Execute one message: keep or drop a lease."""
        told = json.loads(line)
        if "keep" in told:
            kept = KeptLease(**told["keep"])
            self._due[kept.rollout, kept.token] = time.monotonic() + kept.every, kept
        else:
            rollout, token = told["drop"]
            self._due.pop((rollout, token), None)
        if not self._due:
            self._disconnect()

    def renew(self) -> None:
        """Renew the leases that are due. Forget a lease that another worker has taken."""
        now = time.monotonic()
        for key, (at, kept) in list(self._due.items()):
            if at > now:
                continue
            self._due[key] = now + kept.every, kept
            if self._worker.is_alive() and self._renew_lease(kept) == 0:
                del self._due[key]

    def _renew_lease(self, kept: KeptLease) -> int | None:
        """Return the number of rows changed; None when the database is unreachable."""
        try:
            connection = self._connection or _connect(kept.database)
            self._connection = connection
            return connection.execute(RENEW, (kept.seconds, kept.rollout, kept.token)).rowcount
        except psycopg.Error as error:
            sys.stderr.write(f"rollout {kept.rollout}: the lease was not renewed: {error}\n")
            self._disconnect()
            return None

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


def _connect(database: dict[str, Any]) -> psycopg.Connection[Any]:
    """Connect. Nothing is prepared: PgBouncer gives each statement another connection, which knows nothing of it."""
    return psycopg.connect(**database, autocommit=True, connect_timeout=CONNECT, prepare_threshold=None)


def keep_leases() -> None:
    """Serve until standard input ends. Ignores signals: the worker handles them, finishes its work, and needs its lease until then."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent = os.getppid()
    keeper, buffer = LeaseKeeper(WorkerProcess(parent)), b""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        while os.getppid() == parent:
            if selector.select(keeper.seconds_left):
                octets = os.read(sys.stdin.fileno(), LINE)
                if not octets:
                    return
                *lines, buffer = (buffer + octets).split(b"\n")
                for line in lines:
                    keeper.obey(line)
            keeper.renew()


if __name__ == "__main__":
    keep_leases()
