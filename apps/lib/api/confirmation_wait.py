"""`?wait=confirmed&timeout=5`: the response is 202 instead of 200 or 201 while a gateway has not confirmed.

This code never waits. Requests to the events process wait there (`events/confirmation_waiters.py`); other clients must poll.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

CONFIRMED: Final = "confirmed"
ACTIONS: Final = frozenset({"retrieve", "create", "update", "partial_update", "bulk_update"})
"""Actions that can wait, in collections that show their activation."""
UNLESS_TOLD: Final = 5  # seconds
LONGEST: Final = 60  # seconds


def asks_to_wait(request: Request, *, possible: bool = True) -> bool:
    """True if the response must say whether every gateway has confirmed.

    Raises ValidationError for invalid values, and for any value if waiting is not possible.
    """
    wanted = request.query_params.get("wait")
    if not possible and (given := [name for name in ("wait", "timeout") if name in request.query_params]):
        raise ValidationError({f"?{given[0]}": _("Waiting is not possible here: this has no activation status.")})
    text = request.query_params.get("timeout", str(UNLESS_TOLD))
    if wanted not in (None, CONFIRMED):
        raise ValidationError({"?wait": _("`wait` must be `confirmed`.")})
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= LONGEST):
        raise ValidationError({"?timeout": _("`timeout` must be 0 to %(most)d seconds.") % {"most": LONGEST}})
    if wanted is None and "timeout" in request.query_params:
        raise ValidationError({"?timeout": _("`timeout` is allowed only with ?wait=confirmed.")})
    return wanted is not None


def mark_accepted_if_pending(response: Response, rows: Iterable[Any]) -> Response:
    """Return the response, with 202 if one of the rows, as `attach_activations` returned them, is missing on a gateway."""
    if any(not each.since for row in rows for each in row.known_activations):
        response.status_code = 202
        response["Retry-After"] = "1"
    return response
