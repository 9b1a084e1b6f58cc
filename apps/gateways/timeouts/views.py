"""The page of the remaining times of a gateway's connections: its button lets a worker read them, and it follows the reading."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.gateways import selectors
from apps.gateways.group_settings import get_profile
from apps.gateways.timeouts.models import TimeoutReading
from apps.gateways.timeouts.presentation import build_timeouts_view
from apps.gateways.timeouts.reading import LOST, request_timeouts


@staff_page
def timeouts(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the last reading; on POST, request another one. While one is under way, the page asks for it each second."""
    found = get_object_or_404(selectors.list_gateways(), pk=pk)
    if request.method == "POST":
        request_timeouts(gateway=found, by=get_signed_in_user(request))
        return redirect("gateways:timeouts", found.pk)
    row = TimeoutReading.objects.filter(gateway=found).first()
    answer, is_open = row.parse_answer() if row else None, bool(row and row.state in TimeoutReading.OPEN)
    is_lost = bool(row and is_open and timezone.now() - row.asked > LOST)
    context = {
        "gateway": found,
        "row": row,
        "waits": is_open and not is_lost,
        "lost": is_lost,
        "shown": build_timeouts_view(answer, get_profile(found.group)) if answer else None,
    }
    part = "#now" if request.headers.get("HX-Target") == "now" else ""
    return render(request, f"gateways/timeouts.html{part}", context)
