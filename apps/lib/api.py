"""How the API says that something cannot be: the field and the sentence, as the pages say it."""

from typing import Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from apps.lib.errors import Conflict, Problem


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """400 for a Problem and 409 for a Conflict, as {"field": ["sentence"], "offer": value that would do}."""
    if not isinstance(error, Problem):
        return exception_handler(error, context)
    body: dict[str, Any] = {_name_in_api(error.fieldname, context) or "detail": [str(error)]}
    if error.offer:
        body["offer"] = error.offer
    code = status.HTTP_409_CONFLICT if isinstance(error, Conflict) else status.HTTP_400_BAD_REQUEST
    return Response(body, status=code)


def _name_in_api(fieldname: str, context: dict[str, Any]) -> str:
    """What the view's serializer calls the service's field."""
    view = context.get("view")
    serializer = getattr(view, "get_serializer", None)
    fields = serializer().fields if fieldname and serializer else {}
    return next((name for name, field in fields.items() if field.source == fieldname), fieldname)
