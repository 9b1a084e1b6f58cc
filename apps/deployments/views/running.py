"""What the gateways run now, as the top bar of each page shows it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from apps.accounts.permissions import staff_page
from apps.lib.web.context_processors import find_running_revision


@never_cache
@staff_page
def running(request: HttpRequest) -> HttpResponse:
    """That part of the top bar, for pages that look again; nothing when the page has it as it is."""
    now = find_running_revision(request)
    if request.GET.get("seen") == (now.stamp if now else ""):
        return HttpResponse(status=204)
    return render(request, "components/running.html", {"running": now})
