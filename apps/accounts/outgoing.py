"""Mail that leaves after the answer: how long a page takes tells nobody whether it wrote to somebody.

At most WAITING mails wait at once, in this process; what does not fit, or is not taken by the server, is in the log.
"""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import BoundedSemaphore
from typing import Final

import structlog
from django.core.mail import EmailMessage

WAITING: Final = 200
log = structlog.get_logger()
_room = BoundedSemaphore(WAITING)
_carrier = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")
_under_way: set[Future[None]] = set()


def hand_over(message: EmailMessage) -> None:
    """Send it soon."""
    if not _room.acquire(blocking=False):
        log.error("mail dropped: too many wait", subject=message.subject)
        return
    handed = _carrier.submit(_carry, message)
    _under_way.add(handed)
    handed.add_done_callback(_under_way.discard)


def settle() -> None:
    """Return when nothing that was handed over before waits any more."""
    wait(list(_under_way))


def _carry(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:
        log.error("mail not sent", subject=message.subject, error=str(error))
    finally:
        _room.release()
