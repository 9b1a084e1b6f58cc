"""The dashboard's page."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from apps.accounts.permissions import has_right, staff_page
from apps.accounts.roles import Right
from apps.desk.result_cache import get_cached
from apps.desk.selectors.dashboard import build_dashboard as everything
from apps.tickets.trend import compute_ticket_summary


@staff_page
def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the dashboard. The page polls it; a poll gets 204 if nothing has changed."""
    again = request.headers.get("HX-Target") == "live"
    now = timezone.now()
    board = everything(now)
    tickets = get_cached("tickets", lambda: compute_ticket_summary(now)) if has_right(request.user, Right.ANSWER) else None
    html = render_to_string("desk/dashboard.html#board", {"board": board, "tickets": tickets}, request)
    seen = sha256(html.encode()).hexdigest()[:16]
    if again and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    return render(request, f"desk/dashboard.html{'#live' if again else ''}", {"html": html, "seen": seen, "title": board.title})
