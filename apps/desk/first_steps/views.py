"""Page of the first steps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.permissions import get_person, staff_page
from apps.desk.first_steps.steps import check_steps


@staff_page
def first_steps(request: HttpRequest) -> HttpResponse:
    """Show what is still missing before members reach the internet. The page polls itself until everything is done."""
    part = "#steps" if request.headers.get("HX-Target") == "steps" else ""
    return render(request, f"desk/first_steps/steps.html{part}", {"shown": check_steps(get_person(request))})
