"""The public status page and its feeds, without sign-in."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone

from apps.status.page import feeds
from apps.status.page.addresses import build_portal_addresses
from apps.status.page.status_view import StatusView, build_status_view


def _build() -> StatusView:
    return build_status_view(timezone.now())


def page(request: HttpRequest) -> HttpResponse:
    """Show the page. It refreshes itself."""
    shown = {"view": _build(), "at": build_portal_addresses(), "base": "status/page/portal.html", "moments": "short"}
    part = "#now" if request.headers.get("HX-Target") == "status" else ""
    return render(request, f"status/page/page.html{part}", shown)


def atom(_request: HttpRequest) -> HttpResponse:
    """Return the Atom feed."""
    return HttpResponse(feeds.write_atom(_build(), build_portal_addresses()), content_type="application/atom+xml; charset=utf-8")


def calendar(_request: HttpRequest) -> HttpResponse:
    """Return the calendar, which calendar programs subscribe to."""
    return HttpResponse(feeds.write_calendar(_build(), build_portal_addresses()), content_type="text/calendar; charset=utf-8")


def summary(_request: HttpRequest) -> JsonResponse:
    """Return the summary as JSON; any page may read it."""
    response = JsonResponse(feeds.build_summary(_build(), build_portal_addresses()))
    response["Access-Control-Allow-Origin"] = "*"
    return response
