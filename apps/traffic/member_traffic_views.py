"""Views of a member's traffic for staff: the panel, and its numbers as CSV."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.lib.csv_stream import build_csv_download
from apps.members.models import Member
from apps.traffic import months, usage_panel
from apps.traffic.windows import build_recent_window, parse_preset


def _get_member(pk: int) -> Member:
    return get_object_or_404(Member, pk=pk)


@staff_page
def traffic(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the member's panel; for HTMX, the panel's fragment only."""
    member = _get_member(pk)
    part = "#panel" if request.headers.get("HX-Target") == "traffic" else ""
    context = {
        "member": member,
        "usage": usage_panel.build_usage_panel(member, request.GET, usage_panel.build_staff_direction_names(), now=timezone.now()),
    }
    return render(request, f"traffic/of.html{part}", context)


@staff_page
def traffic_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Download the window's buckets as CSV."""
    return download_usage(_get_member(pk), request)


@staff_page
def months_csv(_request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Download the last twelve months as CSV."""
    return download_months(_get_member(pk))


def download_months(member: Member) -> StreamingHttpResponse:
    """Return a CSV of the member's usage by month, with the quota as far as it is known."""
    return build_csv_download(
        f"months-M-{member.number}",
        months.build_months_csv_head(),
        months.iter_months_csv_rows(months.list_months(member, now=timezone.now())),
    )


def download_usage(member: Member, request: HttpRequest) -> StreamingHttpResponse:
    """Return a CSV of the member's usage in the window that the query parameter names."""
    now = timezone.now()
    window = build_recent_window(now, parse_preset(request.GET.get("window", "")))
    points = usage_panel.list_usage_points(member, window, now=now)
    return build_csv_download(
        f"traffic-M-{member.number}-{window.preset}", usage_panel.build_usage_csv_head(), usage_panel.build_usage_csv_rows(points, window)
    )
