"""`?wait=confirmed&timeout=5`, as far as the API itself can say it: 202 instead of 200 or 201 while a gateway has not confirmed.

It never waits: whoever asks the events process is made to wait there (`events/waiting.py`), whoever asks here asks again.
"""

from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

CONFIRMED: Final = "confirmed"
UNLESS_TOLD: Final = 5  # seconds
LONGEST: Final = 60  # seconds


def asks_to_wait(request: Request) -> bool:
    """Whether the answer is to say if every gateway has it. Raises ValidationError for what there is none of."""
    wanted = request.query_params.get("wait")
    text = request.query_params.get("timeout", str(UNLESS_TOLD))
    if wanted not in (None, CONFIRMED):
        raise ValidationError({"?wait": _("There is nothing to wait for but “confirmed”.")})
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= LONGEST):
        raise ValidationError({"?timeout": _("A timeout has 0 to %(most)d seconds.") % {"most": LONGEST}})
    return wanted is not None


def told(response: Response) -> Response:
    """The answer, with 202 when one of its objects is missing on a gateway."""
    rows: Any = response.data if isinstance(response.data, list) else [response.data]
    if any(not each["since"] for row in rows for each in row.get("active", ())):
        response.status_code = 202
        response["Retry-After"] = "1"
    return response
