"""View of what the gateways run now, for the top bar of each page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from apps.accounts.permissions import staff_page
from apps.lib.web.context_processors import find_running_revision


@never_cache
@staff_page
def running(request: HttpRequest) -> HttpResponse:
    """Return that part of the top bar, for pages that refresh it; 204 if the page is up to date."""
    now = find_running_revision(request)
    if request.GET.get("seen") == (now.stamp if now else ""):
        return HttpResponse(status=204)
    return render(request, "components/running.html", {"running": now})
