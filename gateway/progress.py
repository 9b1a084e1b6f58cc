"""Progress of the running operation: what it does and how much is done, for the peer that waits for the answer.

One thread writes it and another reads it. Each update replaces the whole value at once, so no lock is needed.
"""

from firewall.wire import Beat

WORKING = Beat("working")


class Progress:
    """Holds the beat that is sent next."""

    def __init__(self) -> None:
        self.beat = WORKING

    def begin(self, doing: str, of: int = 0) -> None:
        """Start an activity. of: its number of elements, 0 if not known."""
        self.beat = Beat(doing, 0, of)

    def add(self, elements: int) -> None:
        """Add this number of elements to those done."""
        self.beat = Beat(self.beat.doing, min(self.beat.done + elements, self.beat.of), self.beat.of)

    def end(self) -> None:
        """Return to the general "working"."""
        self.beat = WORKING
