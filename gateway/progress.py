"""Progress of the operation that runs: what it does and how much of it is done, for the peer that waits for its answer.

Written by the thread that works and read by the one that tells; each value is replaced at once, so no lock is needed.
"""

from firewall.wire import Beat

WORKING = Beat("working")


class Progress:
    """The beat that is sent next."""

    def __init__(self) -> None:
        self.beat = WORKING

    def begin(self, doing: str, of: int = 0) -> None:
        """This is done from now on; of: how many elements it is about, 0 if that is not known."""
        self.beat = Beat(doing, 0, of)

    def add(self, elements: int) -> None:
        """So many more are done."""
        self.beat = Beat(self.beat.doing, min(self.beat.done + elements, self.beat.of), self.beat.of)

    def end(self) -> None:
        """Nothing in particular is done."""
        self.beat = WORKING
