"""The dashboard."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.desk.selectors.dashboard import dashboard as everything


@staff_page
def dashboard(request: HttpRequest) -> HttpResponse:
    """What is true, what needs somebody, what happened last. It asks for itself again; while nothing has changed, nothing moves."""
    again = request.headers.get("HX-Target") == "live"
    board = everything(timezone.now())
    html = render_to_string("desk/dashboard.html#board", {"board": board}, request)
    seen = sha256(html.encode()).hexdigest()[:16]
    if again and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    return render(request, f"desk/dashboard.html{'#live' if again else ''}", {"html": html, "seen": seen, "title": board.title})
