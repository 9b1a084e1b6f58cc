"""Where to go after signing in again: the page that the form was sent from, taken from the request's Referer."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.route_rights import PAGES, SAFE


def find_form_page(request: HttpRequest) -> str:
    """Return path and query of our page that the request came from; "" if it is not ours, or cannot be opened with GET."""
    referer = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(referer, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    parts = urlsplit(referer)
    if not ours or not _can_be_opened(parts.path):
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def find_return_path(request: HttpRequest) -> str:
    """Return the path to open after signing in: the requested page, or for a form the page that showed it, because many forms'
    addresses only accept POST.
    """
    if request.method in SAFE:
        return request.get_full_path()
    own = request.get_full_path() if _can_be_opened(request.path) else resolve_url(settings.LOGIN_REDIRECT_URL)
    return find_form_page(request) or own


def _can_be_opened(path: str) -> bool:
    """True if the path is one of our pages and can be opened with GET."""
    try:
        page = PAGES.get(resolve(path).view_name)
    except Resolver404:
        return False
    return page is not None and page.see is not None
