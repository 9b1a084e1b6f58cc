"""Submissions that wait in the session while their sender confirms who they are, and then go on within the request that confirmed it.

Passwords do not wait there, because sessions are stored in the database. A form's own password is checked at once instead, and the session
remembers when it was right.
"""

import time
from typing import Any, Final, TypedDict

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.httpkit import deserialize_request, serialize_request
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import resolve
from django.utils.http import urlencode

CALLBACK: Final = f"{__name__}.resume_submission"  # allauth calls it once the sender has confirmed
CONFIRMED: Final = "has_confirmed_password"  # an attribute of resumed requests; nothing that a browser sends can set it


class SuspendedSubmission(TypedDict):
    """A submission in the session: its page with query, the request as allauth serializes it, and when a right password was sent with it.

    The time is in Unix seconds, 0 without such a password.
    """

    page: str
    request: str
    password_confirmed: float


def suspend_submission(request: HttpRequest, confirm_path: str) -> HttpResponse:
    """Keep what was sent, without passwords, and redirect to the page that confirms identity. A wrong password counts as an attempt."""
    confirmed = _is_password_right(request)
    request.POST = _drop_passwords(request.POST)  # type: ignore[assignment]  # the stubs want an immutable one
    page = request.get_full_path()
    state = SuspendedSubmission(page=page, request=serialize_request(request), password_confirmed=time.time() if confirmed else 0)
    request.session[STATE_SESSION_KEY] = {"callback": CALLBACK, "state": state}
    where = f"{confirm_path}?{urlencode({REDIRECT_FIELD_NAME: page})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": where})
    return HttpResponseRedirect(where)


def resume_submission(request: HttpRequest, state: SuspendedSubmission) -> HttpResponseBase | None:
    """Answer the submission instead of the request that confirmed who its sender is.

    Only if the sender goes on to its page: one that was left alone is not sent by confirming for something else. Returns None if there is
    no page to go on to.
    """
    page: str | None = get_next_redirect_url(request)
    if page != state["page"]:
        return HttpResponseRedirect(page) if page else None
    confirmed = _has_just_given_password(request) or time.time() - state["password_confirmed"] < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    resumed: HttpRequest = deserialize_request(state["request"], request)
    resumed.resolver_match = match = resolve(resumed.path_info)
    setattr(resumed, CONFIRMED, confirmed)
    answer: HttpResponseBase = match.func(resumed, *match.args, **match.kwargs)
    return answer


def has_confirmed_password(request: HttpRequest) -> bool:
    """True if a suspended submission is resumed and its sender gave the password for it, so that its form need not demand that again."""
    return bool(getattr(request, CONFIRMED, False))


def _has_just_given_password(request: HttpRequest) -> bool:
    """True if this request confirmed by password, and not by a second factor. allauth has just recorded how."""
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return bool(records) and records[-1]["method"] == "password"


def _is_password_right(request: HttpRequest) -> bool:
    password = request.POST.get("password", "").strip()  # as form fields do
    try:
        return bool(password) and bool(get_adapter().reauthenticate(request.user, password))
    except ValidationError:  # after too many attempts
        return False


def _drop_passwords(sent: QueryDict) -> QueryDict:
    kept = sent.copy()
    for name in [name for name in kept if "password" in name]:
        del kept[name]
    return kept
