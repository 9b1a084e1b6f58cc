"""Order in which a round of readings asks gateways: those that answer come first.

One that is known to be away takes ten seconds until it counts as silent once more. If each thread waited for such gateways, the others
would not be read meanwhile, so one thread of the process asks them at a time, whatever it reads.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from apps.network.models import Gateway

_asks_absent_ones: Final = Lock()


@contextmanager
def order_gateways(gateways: Iterable[Gateway]) -> Iterator[tuple[list[Gateway], list[Gateway]]]:
    """Yield the gateways that answered last, and then those that did not, unless another thread asks such. All have a `status`."""
    known = list(gateways)
    answering = [each for each in known if each.status.unreachable_since is None]
    absent = [each for each in known if each.status.unreachable_since is not None]
    if not (absent and _asks_absent_ones.acquire(blocking=False)):
        yield answering, []
        return
    try:
        yield answering, absent
    finally:
        _asks_absent_ones.release()
