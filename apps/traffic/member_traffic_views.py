"""A member's traffic for staff: the panel, and its numbers as CSV."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.lib.csv_stream import download
from apps.members.models import Member
from apps.traffic import months, panel
from apps.traffic.windows import ending, preset_of


def _member(pk: int) -> Member:
    return get_object_or_404(Member, pk=pk)


@staff_page
def traffic(request: HttpRequest, pk: int) -> HttpResponse:
    """The panel alone; as part of itself for HTMX."""
    member = _member(pk)
    part = "#panel" if request.headers.get("HX-Target") == "traffic" else ""
    context = {"member": member, "usage": panel.panel(member, request.GET, panel.for_staff(), now=timezone.now())}
    return render(request, f"traffic/of.html{part}", context)


@staff_page
def traffic_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Each bucket of the window."""
    return as_csv(_member(pk), request)


@staff_page
def months_csv(_request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Each of the last twelve months."""
    return months_as_csv(_member(pk))


def months_as_csv(member: Member) -> StreamingHttpResponse:
    """The member's usage month by month, and the quota as far as it is known, to be saved."""
    return download(f"months-M-{member.number}", months.head(), months.rows(months.months(member, now=timezone.now())))


def as_csv(member: Member, request: HttpRequest) -> StreamingHttpResponse:
    """The member's usage in the window that the address names, to be saved."""
    now = timezone.now()
    window = ending(now, preset_of(request.GET.get("window", "")))
    points = panel.points_of(member, window, now=now)
    return download(f"traffic-M-{member.number}-{window.preset}", panel.head(), panel.rows(points, window))
