"""What happened in the whole network: who changed what, when."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.models import User
from apps.accounts.permissions import staff_page
from apps.audit import selectors
from apps.audit.trail import trails
from apps.deployments.revision_pages.first_revisions import with_revisions
from apps.lib.web.query_params import day, number, words

PER_PAGE = 50
LAST_PAGE = 400  # further back, a filter is quicker


@staff_page
def history(request: HttpRequest) -> HttpResponse:
    """The newest first, of one kind or person if the address says so."""
    page = min(max(1, number(request.GET, "page")), LAST_PAGE)
    wanted = selectors.HistoryFilter(
        kind=words(request.GET, "kind"),
        person=number(request.GET, "person"),
        since=day(request.GET, "since"),
        until=day(request.GET, "until"),
        text=words(request.GET, "q"),
    )
    entries, more = selectors.history(wanted, page=page, most=PER_PAGE)
    context = {
        "entries": with_revisions(entries),
        "number": page,
        "next": page + 1 if more and page < LAST_PAGE else None,
        "kinds": sorted(((trail.key, trail.name) for trail in trails()), key=lambda pair: pair[1]),
        "people": [(user.pk, user.name) for user in User.objects.filter(is_staff=True).order_by("first_name", "last_name", "username")],
        "wanted": wanted,
    }
    return render(request, "audit/history.html", context)
