"""What every write of the API goes through: one transaction, the reason for the history, and the answer kept for who asks twice."""

from collections.abc import Callable
from typing import Any, Final

import pghistory
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.idempotency import answer_once
from apps.lib.api.problems import RequestRejected
from apps.lib.enqueue import batch_tasks

LONGEST_REASON: Final = 200  # characters


def run_write(request: Request, work: Callable[[], Response]) -> Response:
    """Do the work, all of it or nothing."""
    why = parse_reason(request)
    with transaction.atomic(), batch_tasks(), pghistory.context(**({"reason": why} if why else {})):
        if request.method == "POST" and "Idempotency-Key" in request.headers:
            return answer_once(request, work)
        return work()


def parse_reason(request: Request) -> str:
    """What X-Change-Reason says, for the history: UTF-8, one line."""
    given = request.headers.get("X-Change-Reason", "")
    try:
        text = given.encode("latin-1").decode().strip()  # HTTP servers hand headers on as Latin-1
    except UnicodeError:
        text = given.strip()
    if len(text) > LONGEST_REASON or not text.isprintable():
        raise RequestRejected(400, _("A reason (X-Change-Reason) is one line of at most %(most)d characters.") % {"most": LONGEST_REASON})
    return text


def check_size(request: Request) -> None:
    """Nobody sends more than fits."""
    length: Any = request.META.get("CONTENT_LENGTH") or "0"
    most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if str(length).isdigit() and int(length) > most:
        raise RequestRejected(413, _("A request has at most %(most)d bytes. Send fewer items at once.") % {"most": most})
