"""Views of a member's announcements: all that reached them, and dismissing one from the top of their page."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.announcements import own_announcements
from apps.desk.self_service.own_page import own_page
from apps.members.models import Member

PER_PAGE = 20


@own_page
def announcements(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the announcements that reached the member, the newest first."""
    now = timezone.now()
    page = Paginator(own_announcements.list_reached_announcements(member, now), PER_PAGE).get_page(request.GET.get("page"))
    rows = [own_announcements.describe_own_announcement(each, now) for each in page]
    return render(request, "desk/own/announcements.html", {"page": page, "rows": rows})


@require_POST
@own_page
def mark_seen(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Take an announcement from the top of the member's page."""
    if not own_announcements.mark_announcement_seen(member=member, announcement=pk):
        raise Http404
    return HttpResponse() if request.headers.get("HX-Request") else redirect("own:home")
