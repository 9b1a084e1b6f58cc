"""Decorator for members' own pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from apps.accounts.models import User
from apps.members.models import Member

type OwnView = Callable[..., HttpResponseBase]


def find_member(user: object) -> Member | None:
    """Return the member that the account belongs to, with tariff and room; None for an account without a membership."""
    if not isinstance(user, User):
        return None
    return Member.objects.filter(user=user).select_related("tariff", "room__site").first()


def own_page(view: OwnView) -> Callable[..., HttpResponseBase]:
    """Pass the signed-in account's member to the view; other accounts get a page that says that they have no membership.

    Anonymous requests do not get here (apps/accounts/route_rights.py).
    """

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        member = find_member(request.user)
        return view(request, member, *args, **kwargs) if member else _render_nobody(request)

    return checked


def _render_nobody(request: HttpRequest) -> HttpResponse:
    return render(request, "desk/own/nobody.html", status=404)
