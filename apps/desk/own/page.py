"""Who a member's own page is for."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from apps.accounts.models import User
from apps.members.models import Member

type OwnView = Callable[..., HttpResponseBase]


def member_of(user: object) -> Member | None:
    """The member that the account belongs to, with what the page shows of him; None for an account alone."""
    if not isinstance(user, User):
        return None
    return Member.objects.filter(user=user).select_related("tariff", "room__site").first()


def own_page(view: OwnView) -> Callable[..., HttpResponseBase]:
    """A page for a member, who is given to the view; others are asked to sign in, or told that no membership is theirs."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        member = member_of(request.user)
        return view(request, member, *args, **kwargs) if member else _nobody(request)

    return checked


def _nobody(request: HttpRequest) -> HttpResponse:
    return render(request, "desk/own/nobody.html", status=404)
