"""Idempotent requests: a repeated Idempotency-Key gets the answer of the first request, and nothing is done twice.

The answer is stored in the transaction that does the work: both exist or neither. A second request is refused while the first is
in progress (409), and so is a key of another request (422). Refusals are not stored, because they changed nothing.
"""

import hashlib
import json
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.problems import RequestRejected
from apps.lib.models import KeptAnswer

KEPT: Final = timedelta(days=1)
MAX_ANSWERS_PER_ACCOUNT: Final = 500  # stored answers of one account
LONGEST: Final = 100  # characters of a key
REPLAYED: Final = "Idempotency-Replayed"


def answer_once(request: Request, work: Callable[[], Response]) -> Response:
    """Do the work, or return the stored answer of the same request. Must run within a transaction."""
    key, person = request.headers.get("Idempotency-Key", ""), int(request.user.pk or 0)  # authenticated, as RolePermission checks
    if not 0 < len(key) <= LONGEST or not key.isprintable() or not key.isascii():
        raise RequestRejected(400, _("An Idempotency-Key has 1 to %(most)d printable characters.") % {"most": LONGEST})
    if not _try_lock_key(person, key):
        raise RequestRejected(409, _("The same request is still being processed. Try again in a moment."))
    print_ = _compute_fingerprint(request)
    kept = KeptAnswer.objects.filter(user=person, key=key, at__gt=Now() - KEPT).first()
    if kept is None:
        response = work()
        _save_answer(person, key, print_, response)
        return response
    if kept.request != print_:
        raise RequestRejected(422, _("This Idempotency-Key was used for another request. Choose a new one for each."))
    return _replay_answer(kept)


def _try_lock_key(person: int, key: str) -> bool:
    """Lock the key until the transaction ends (PostgreSQL manual, "Advisory Lock Functions").

    Returns False if another transaction has it.
    """
    number = int.from_bytes(hashlib.sha256(f"{person} {key}".encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])


def _compute_fingerprint(request: Request) -> str:
    told = f"{request.method} {request.get_full_path()}\n{json.dumps(request.data, sort_keys=True)}"
    return hashlib.sha256(told.encode()).hexdigest()


def _save_answer(person: int, key: str, print_: str, response: Response) -> None:
    KeptAnswer.objects.filter(user=person, key=key).delete()  # an expired one
    KeptAnswer.objects.create(
        user_id=person,
        key=key,
        request=print_,
        status=response.status_code,
        etag=response.get("ETag", ""),
        location=response.get("Location", ""),
        body=zlib.compress(JSONRenderer().render(response.data)),
    )
    prune_answers(person)


def prune_answers(person: int) -> None:
    """Delete expired answers, and the oldest of this account beyond MAX_ANSWERS_PER_ACCOUNT."""
    KeptAnswer.objects.filter(at__lte=Now() - KEPT).delete()
    mine = KeptAnswer.objects.filter(user=person)
    oldest = mine.order_by("-id").values_list("id", flat=True)[MAX_ANSWERS_PER_ACCOUNT - 1 : MAX_ANSWERS_PER_ACCOUNT].first()
    if oldest:
        mine.filter(id__lt=oldest).delete()


def _replay_answer(kept: KeptAnswer) -> Response:
    text = zlib.decompress(bytes(kept.body))
    data: Any = json.loads(text) if text else None
    known = {"ETag": kept.etag, "Location": kept.location}
    return Response(data, status=kept.status, headers={REPLAYED: "true", **{name: value for name, value in known.items() if value}})
