"""The dashboard."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.desk.selectors.dashboard import dashboard as everything


def front(request: HttpRequest) -> HttpResponseBase:
    """Where somebody lands: who runs the network on the dashboard, members on their own page."""
    if request.user.is_authenticated and not request.user.is_staff:
        return redirect("own:home")
    return dashboard(request)


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
