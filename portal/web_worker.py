"""gunicorn's threaded worker, which tells of an address that is too long as the API tells of every problem (RFC 9457).

gunicorn gives up before it has read the whole address, so nobody knows whether it is one of the API: pages are answered alike.
"""

import json
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]  # none of it has types
from gunicorn.http.errors import LimitRequestLine  # type: ignore[import-untyped]  # likewise
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]  # likewise

STATUS: Final = 414
BODY: Final = {
    "type": "/api/docs/#address-too-long",
    "title": "Address too long",
    "status": STATUS,
    "detail": "The address, with its parameters, is longer than the server reads. Ask for fewer values at once.",
}


def answer() -> bytes:
    """The whole answer, as it goes over the wire."""
    body = json.dumps(BODY).encode()
    lines = (
        f"HTTP/1.1 {STATUS} URI Too Long",
        "Connection: close",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """For `gunicorn --worker-class portal.web_worker.Worker`."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """What could not be read as a request."""
        if not isinstance(exc, LimitRequestLine):
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("Address too long from %s", addr)
        util.write_nonblock(client, answer())
