"""Errors of the API as problem details (RFC 9457), with the same sentence and field as on pages.

Takes what views, services and the database raise; returns `application/problem+json`. Unknown exceptions are server errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError, IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.views import defaults
from rest_framework import exceptions, status
from rest_framework.response import Response

from apps.lib.api.constraints import explain_violation
from apps.lib.api.token_scope import can_token_see_member
from apps.lib.errors import Conflict, Problem, Unprocessable

MEDIA_TYPE = "application/problem+json"
KINDS = {
    400: "invalid",
    401: "not-signed-in",
    403: "not-allowed",
    404: "not-found",
    405: "not-offered",
    406: "not-acceptable",
    409: "conflict",
    412: "changed-meanwhile",
    413: "too-large",
    414: "address-too-long",
    415: "not-json",
    422: "refused",
    429: "too-many",
    500: "fault",
    503: "away",
}
"""Last part of `type` for each status; docs/api.md explains each."""

type FieldPath = tuple[str | int, ...]
type ErrorEntry = dict[str, Any]


class ItemsRefused(Exception):  # noqa: N818 - not an error of the program
    """Raised when some items of a bulk request are refused, so that none was applied. `why`: exception by the item's index."""

    def __init__(self, why: Mapping[int, Exception]) -> None:
        super().__init__(f"{len(why)} items")
        self.why = why


class RequestRejected(exceptions.APIException):
    """A refusal with its own status code: a failed If-Match, a reused Idempotency-Key, a body that is too large."""

    def __init__(self, status_code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status_code = status_code


def explain_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an exception of a view; None for server errors."""
    names = _map_field_names(context) if isinstance(error, ItemsRefused | Problem) else {}
    token = getattr(context.get("request"), "auth", None)
    error = _hide_names(error, token)
    if isinstance(error, ItemsRefused):
        told = sorted((index, _hide_names(why, token)) for index, why in error.why.items())
        found = [entry for index, why in told for entry in _iter_entries(why, names, (index,))]
        code = max((_find_status(why) or 500 for why in error.why.values()), default=400)
        return _build_response(code, found, _("Nothing was changed: see the errors of the single items.")) if code < 500 else None
    if isinstance(error, IntegrityError | DataError):
        known = explain_violation(error)
        return explain_exception(known, context) if known else None
    code = _find_status(error) or 500
    if code == 500:
        return None
    response = _build_response(code, list(_iter_entries(error, names)), _get_sentence(error))
    for name, value in _iter_headers(error):
        response[name] = value
    return response


def _hide_names(error: Exception, token: object) -> Exception:
    """Return the error without names, if the token may not know which member the conflicting object belongs to."""
    if not isinstance(error, Problem) or error.culprit is None or can_token_see_member(token, error.culprit):
        return error
    text = error.unnamed or _("This conflicts with something that belongs to someone else.")
    return type(error)(text, error.fieldname, error.offer)


def _find_status(error: Exception) -> int | None:
    if isinstance(error, IntegrityError | DataError):
        known = explain_violation(error)
        return _find_status(known) if known else None
    if isinstance(error, Problem):
        return status.HTTP_409_CONFLICT if isinstance(error, Conflict) else 422 if isinstance(error, Unprocessable) else 400
    if isinstance(error, exceptions.APIException):
        return error.status_code
    kinds: tuple[tuple[type[Exception], int], ...] = ((Http404, 404), (PermissionDenied, 403), (DjangoValidationError, 400))
    return next((code for kind, code in kinds if isinstance(error, kind)), None)


def _iter_headers(error: Exception) -> Iterator[tuple[str, str]]:
    if header := getattr(error, "auth_header", None):
        yield "WWW-Authenticate", header
    if (wait := getattr(error, "wait", None)) is not None:
        yield "Retry-After", str(max(1, round(wait)))


def _get_sentence(error: Exception) -> str:
    if isinstance(error, Http404):
        return _("Not found, or no longer active.")
    if isinstance(error, exceptions.APIException) and isinstance(error.detail, str):
        return str(error.detail)
    return str(error) if isinstance(error, Problem | PermissionDenied) else ""


def _build_response(code: int, errors: list[ErrorEntry], sentence: str) -> Response:
    return Response(build_problem_body(code, sentence, errors), status=code, content_type=MEDIA_TYPE)


def build_problem_body(code: int, sentence: str = "", errors: Sequence[ErrorEntry] = ()) -> dict[str, Any]:
    """Return the problem as JSON values. `errors` lists the errors of single fields."""
    titles = {
        400: _("Bad request"),
        401: _("Not signed in"),
        403: _("Not allowed"),
        404: _("Not found"),
        405: _("Method not allowed"),
        409: _("Conflict"),
        412: _("Changed meanwhile"),
        413: _("Too large"),
        414: _("URL too long"),
        415: _("Not JSON"),
        422: _("Refused"),
        429: _("Too many requests"),
        500: _("Internal server error"),
        503: _("Service unavailable"),
    }
    detail = sentence or (errors[0]["detail"] if len(errors) == 1 else _("See the errors of the single fields."))
    told: dict[str, Any] = {
        "type": f"/api/docs/#{KINDS.get(code, 'invalid')}",
        "title": str(titles.get(code, titles[400])),
        "status": code,
        "detail": detail,
    }
    offers = [each["offer"] for each in errors if each.get("offer")]
    return told | ({"errors": list(errors)} if errors else {}) | ({"offer": offers[0]} if len(errors) == 1 and offers else {})


def _iter_entries(error: Exception, names: Mapping[str, str], path: FieldPath = ()) -> Iterator[ErrorEntry]:
    """Yield an entry for each error, with the path of its field."""
    if isinstance(error, IntegrityError | DataError):
        error = explain_violation(error) or error
    if isinstance(error, Problem):
        if error.fieldname or path:
            named = names.get(error.fieldname, error.fieldname)
            yield _build_entry((*path, named) if named else path, str(error)) | ({"offer": error.offer} if error.offer else {})
    elif isinstance(error, exceptions.ValidationError):
        yield from _flatten_details(error.detail, path)
    elif isinstance(error, DjangoValidationError):
        yield from _flatten_details(error.message_dict if hasattr(error, "error_dict") else error.messages, path)
    elif path:
        yield _build_entry(path, _get_sentence(error) or _("This is not possible."))


def _flatten_details(detail: Any, path: FieldPath) -> Iterator[ErrorEntry]:
    """Yield each sentence of a serializer's errors with the path of its field."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            yield from _flatten_details(value, path if key in ("non_field_errors", "__all__", "detail") else (*path, key))
    elif isinstance(detail, str):
        yield _build_entry(path, detail)
    else:
        nested = any(not isinstance(each, str) for each in detail)
        for index, each in enumerate(detail):
            yield from _flatten_details(each, (*path, index) if nested else path)


def _build_entry(path: FieldPath, sentence: str) -> ErrorEntry:
    """Return an entry of `errors`.

    `pointer` is a JSON pointer (RFC 6901) into the request body; `field` is the same path for people: [3].public_port.
    """
    if path and isinstance(path[0], str) and path[0].startswith("?"):
        return {"detail": sentence, "parameter": path[0][1:]}
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
    where = {"field": field, "pointer": "#" + "".join(f"/{part}" for part in escaped)} if path else {}
    item = {"item": path[0]} if path and isinstance(path[0], int) else {}
    return {"detail": sentence, **where, **item}


def _map_field_names(context: Mapping[str, Any]) -> dict[str, str]:
    """Map the service's field names to those of the view's serializer."""
    serializer: Any = getattr(context.get("view"), "serializer_class", None)
    fields = serializer().fields if serializer else {}
    return {field.source: name for name, field in fields.items()}


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler404: return a problem for paths below /api/, else a page."""
    return (
        _build_json_problem(404, _("There is nothing at this address."))
        if _is_api_request(request)
        else defaults.page_not_found(request, exception)
    )


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Return a problem for paths below /api/, else a page."""
    return (
        _build_json_problem(500, _("Something went wrong on our side. It is in the log."))
        if _is_api_request(request)
        else defaults.server_error(request)
    )


def build_unavailable_response(sentence: str) -> HttpResponse:
    """Return a 503 problem with this sentence."""
    return _build_json_problem(503, sentence)


def _is_api_request(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _build_json_problem(code: int, sentence: str) -> HttpResponse:
    return JsonResponse(build_problem_body(code, sentence), status=code, content_type=MEDIA_TYPE)
