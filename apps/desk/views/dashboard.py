"""The dashboard."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from apps.accounts.permissions import may, staff_page
from apps.accounts.roles import Right
from apps.desk.selectors.dashboard import dashboard as everything
from apps.desk.selectors.keeping import kept
from apps.tickets.trend import trend


@staff_page
def dashboard(request: HttpRequest) -> HttpResponse:
    """What is true, what needs somebody, what happened last. It asks for itself again; while nothing has changed, nothing moves."""
    again = request.headers.get("HX-Target") == "live"
    now = timezone.now()
    board = everything(now)
    tickets = kept("tickets", lambda: trend(now)) if may(request.user, Right.ANSWER) else None
    html = render_to_string("desk/dashboard.html#board", {"board": board, "tickets": tickets}, request)
    seen = sha256(html.encode()).hexdigest()[:16]
    if again and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    return render(request, f"desk/dashboard.html{'#live' if again else ''}", {"html": html, "seen": seen, "title": board.title})
