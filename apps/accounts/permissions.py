"""Who may use the API and the staff's pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.models import User

type View = Callable[..., HttpResponseBase]


class IsStaff(BasePermission):
    """People who run the network."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user.is_authenticated and request.user.is_staff)


def staff_page(view: View) -> View:
    """A page for people who run the network: others are asked to sign in, or told that it is not theirs."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked


def person(request: HttpRequest) -> User:
    """Whoever signed in and asks for a staff page: the `by` of services."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
