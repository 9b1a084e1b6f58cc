"""Wraps every write of the API: one transaction, the reason for the history, and the stored answer of idempotent requests."""

from collections.abc import Callable
from typing import Final

import pghistory
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.idempotency import answer_once
from apps.lib.api.paging import LONGEST_NUMBER
from apps.lib.api.problems import RequestRejected
from apps.lib.enqueue import batch_tasks

LONGEST_REASON: Final = 200  # characters


def run_write(request: Request, work: Callable[[], Response]) -> Response:
    """Do the work in one transaction."""
    why = parse_reason(request)
    with transaction.atomic(), batch_tasks(), pghistory.context(**({"reason": why} if why else {})):
        if request.method == "POST" and "Idempotency-Key" in request.headers:
            return answer_once(request, work)
        return work()


def parse_reason(request: Request) -> str:
    """Return the X-Change-Reason header, for the history: one line in UTF-8."""
    given = request.headers.get("X-Change-Reason", "")
    try:
        text = given.encode("latin-1").decode().strip()  # HTTP servers decode headers as Latin-1
    except UnicodeError:
        text = given.strip()
    if len(text) > LONGEST_REASON or not text.isprintable():
        raise RequestRejected(400, _("A reason (X-Change-Reason) is one line of at most %(most)d characters.") % {"most": LONGEST_REASON})
    return text


def check_size(request: Request, largest: int | None = None) -> None:
    """Raise RequestRejected (413) if the body is too large. largest: octets; None: the usual limit."""
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    most: int = largest or settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if length.isascii() and length.isdigit() and (len(length) > LONGEST_NUMBER or int(length) > most):
        raise RequestRejected(413, _("A request has at most %(most)d bytes. Send fewer items at once.") % {"most": most})
