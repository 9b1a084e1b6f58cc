"""The web server's worker with deadlines that a test can wait for."""

from portal.web.deadlines import DeadlineProtocol, Deadlines, WaitingConnections
from portal.web.worker import WebWorker


class HurriedProtocol(DeadlineProtocol):
    """Nobody has more than a second; fifty connections may wait."""

    deadlines = Deadlines(header=1.0, body_start=1.0, body_rate=4096.0, unread=1.0, check=0.5)
    waiting = WaitingConnections(most=50)


class HurriedWorker(WebWorker):
    """As it is, in a hurry."""

    protocol = HurriedProtocol
