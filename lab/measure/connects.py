"""Opens TCP connections one after the other, with so many at once, and reports how long each took to be open.

It prints {"ready": true}, begins with the first line of its standard input, and prints a ConnectReport for each interval. It opens none
after the given time, or after the end of its standard input, then waits for those that are still opening. A connection is closed with a
reset at once, so that it leaves no state that holds its port. On a busy machine the time includes the wait until this program runs.
"""

import json
import os
import selectors
import socket
import struct
import sys
from argparse import ArgumentParser
from collections import Counter
from errno import EINPROGRESS, ETIMEDOUT
from time import monotonic_ns
from typing import NamedTuple

from lab.measure.histogram import DurationHistogram
from lab.measure.output import report, report_ready

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # struct linger, socket(7)
SECOND = 1_000_000_000  # nanoseconds


class ConnectReport(NamedTuple):
    """What happened since the report before.

    `seconds`: for how long connections were opened; `errors`: failed attempts by the kernel's words; `buckets`, `longest_ms`: the
    `DurationHistogram` of the attempts that succeeded.
    """

    seconds: float
    errors: dict[str, int]
    buckets: dict[int, int]
    longest_ms: float

    @property
    def histogram(self) -> DurationHistogram:
        return DurationHistogram(Counter(self.buckets), self.longest_ms)


def parse_connect_report(line: str) -> ConnectReport:
    """Parse a line of this program's output. Raise `ValueError`."""
    told = json.loads(line)
    return ConnectReport(**told | {"buckets": {int(bucket): count for bucket, count in told["buckets"].items()}})


class ConnectionOpener:
    """Opens connections and counts them. `pending` holds those that are opening, the oldest first, with their start in nanoseconds."""

    def __init__(self, host: str, port: int, *, parallel: int, timeout: float) -> None:
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._target = host, port
        self._parallel = parallel
        self._timeout = int(timeout * SECOND)
        self.selector = selectors.DefaultSelector()
        self.pending: dict[socket.socket, int] = {}
        self.durations, self.errors = DurationHistogram(), Counter[int]()

    @property
    def room(self) -> int:
        """How many more may be opened now."""
        return self._parallel - len(self.pending)

    def open(self) -> None:
        """Begin to open a connection. What the kernel refuses at once is counted as an error."""
        connection = socket.socket(self._family, socket.SOCK_STREAM)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        connection.setblocking(False)
        started = monotonic_ns()
        error = connection.connect_ex(self._target)
        if error in (0, EINPROGRESS):
            self.pending[connection] = started
            self.selector.register(connection, selectors.EVENT_WRITE, connection)
        else:
            self.errors[error] += 1
            connection.close()

    def finish(self, connection: socket.socket, now: int) -> None:
        """Count a connection that is open or has failed, and close it."""
        error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        started = self._close(connection)
        if error:
            self.errors[error] += 1
        else:
            self.durations.add((now - started) / 1e6)

    def give_up(self, now: int) -> None:
        """Count those that have been opening for too long as timed out."""
        for connection in [each for each, started in self.pending.items() if now - started >= self._timeout]:
            self._close(connection)
            self.errors[ETIMEDOUT] += 1

    def compute_deadline(self) -> int | None:
        """Return when the oldest one is to be given up, or None."""
        return next((started + self._timeout for started in self.pending.values()), None)

    def take_report(self, seconds: float) -> ConnectReport:
        """Return what was counted since the last call."""
        errors = {os.strerror(error): count for error, count in sorted(self.errors.items())}
        result = ConnectReport(round(seconds, 6), errors, dict(self.durations.buckets), self.durations.longest)
        self.durations, self.errors = DurationHistogram(), Counter()
        return result

    def _close(self, connection: socket.socket) -> int:
        self.selector.unregister(connection)
        connection.close()
        return self.pending.pop(connection)


class ConnectRun:
    """One run: when to open, when to report, when to end. Times are monotonic, in nanoseconds."""

    def __init__(self, opener: ConnectionOpener, *, seconds: float, every: float, rate: float) -> None:
        self._opener = opener
        self._every, self._rate = round(every * SECOND), rate
        self._begin = self._since = monotonic_ns()
        self._end, self._report_at = self._begin + round(seconds * SECOND), self._begin + self._every
        self._opened = 0
        self._is_opening = True

    def run(self) -> None:
        """Open and report until the time is over or standard input ends, and all attempts have ended."""
        self._opener.selector.register(sys.stdin, selectors.EVENT_READ)
        while self._is_opening or self._opener.pending:
            ready = self._opener.selector.select(max(0, self._compute_next() - monotonic_ns()) / SECOND)
            now = monotonic_ns()
            for key, _ in ready:
                if key.data is None:
                    self._listen(now)
                else:
                    self._opener.finish(key.data, now)
            self._opener.give_up(now)
            self._go_on(now)
        self._report(monotonic_ns())

    def _go_on(self, now: int) -> None:
        if self._is_opening and now >= self._end:
            self._stop(now)
        while now >= self._report_at:  # one for each interval, so that the reports of several nodes keep in step
            self._report(now)
            self._report_at += self._every
        if self._is_opening:
            for _ in range(self._count_due(now)):
                self._opener.open()
                self._opened += 1

    def _count_due(self, now: int) -> int:
        paced = int((now - self._begin) * self._rate / SECOND) + 1 - self._opened
        return min(self._opener.room, paced) if self._rate else self._opener.room

    def _compute_next(self) -> int:
        """Return when there is something to do if nothing happens before."""
        moments = [self._report_at, deadline] if (deadline := self._opener.compute_deadline()) else [self._report_at]
        if self._is_opening:
            moments.append(self._end)
            if self._opener.room:
                moments.append(self._begin + int(self._opened / self._rate * SECOND) if self._rate else self._begin)
        return min(moments)

    def _listen(self, now: int) -> None:
        if not sys.stdin.readline():
            self._opener.selector.unregister(sys.stdin)
            self._stop(now)

    def _stop(self, now: int) -> None:
        """Open no more. The interval goes on while the last ones are opening."""
        if self._is_opening:
            self._is_opening, self._end = False, now
            self._report_at = now + self._every

    def _report(self, now: int) -> None:
        until = now if self._is_opening else self._end
        report(self._opener.take_report(max(0, until - self._since) / SECOND))
        self._since = now


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.connects", description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=30, help="how long connections are opened")
    parser.add_argument("--every", type=float, default=5, help="seconds between two reports")
    parser.add_argument("--parallel", type=int, default=20, help="attempts at once")
    parser.add_argument("--rate", type=float, default=0, help="connections per second; 0: as fast as it goes")
    parser.add_argument("--timeout", type=float, default=10, help="seconds after which an attempt has failed")
    given = parser.parse_args()
    opener = ConnectionOpener(given.host, given.port, parallel=given.parallel, timeout=given.timeout)
    report_ready()
    if sys.stdin.readline():
        ConnectRun(opener, seconds=given.seconds, every=given.every, rate=given.rate).run()


if __name__ == "__main__":
    main()
