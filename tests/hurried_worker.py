"""The web server's worker with deadlines that are short enough for a test."""

from portal.web.deadlines import DeadlineProtocol, Deadlines, WaitingConnections
from portal.web.worker import WebWorker


class HurriedProtocol(DeadlineProtocol):
    """Protocol with deadlines of one second, and at most fifty waiting connections."""

    deadlines = Deadlines(header=1.0, body_start=1.0, body_rate=4096.0, unread=1.0, check=0.5)
    waiting = WaitingConnections(most=50)


class HurriedWorker(WebWorker):
    """The worker with these deadlines."""

    protocol = HurriedProtocol
