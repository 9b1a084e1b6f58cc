"""The history of the whole network: who changed what, when."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.models import User
from apps.accounts.permissions import staff_page
from apps.audit import selectors
from apps.audit.trail import list_trails
from apps.deployments.revision_pages.first_revisions import attach_revisions_to_history
from apps.lib.web.query_params import parse_day, parse_number, parse_text_param

PER_PAGE = 50
LAST_PAGE = 400  # for older entries a filter is quicker


@staff_page
def history(request: HttpRequest) -> HttpResponse:
    """Show the history, the newest first, filtered by the URL's parameters."""
    page = min(max(1, parse_number(request.GET, "page")), LAST_PAGE)
    wanted = selectors.HistoryFilter(
        kind=parse_text_param(request.GET, "kind"),
        person=parse_number(request.GET, "person"),
        since=parse_day(request.GET, "since"),
        until=parse_day(request.GET, "until"),
        text=parse_text_param(request.GET, "q"),
    )
    entries, more = selectors.list_history(wanted, page=page, most=PER_PAGE)
    context = {
        "entries": attach_revisions_to_history(entries),
        "number": page,
        "next": page + 1 if more and page < LAST_PAGE else None,
        "kinds": sorted(((trail.key, trail.name) for trail in list_trails()), key=lambda pair: pair[1]),
        "people": [(user.pk, user.name) for user in User.objects.filter(is_staff=True).order_by("first_name", "last_name", "username")],
        "wanted": wanted,
    }
    return render(request, "audit/history.html", context)
