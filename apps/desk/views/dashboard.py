"""The dashboard."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.permissions import staff_page
from apps.deployments.selectors import gateway_states, last_rollouts


@staff_page
def dashboard(request: HttpRequest) -> HttpResponse:
    """What is true, what needs somebody, what happened last."""
    return render(request, "desk/dashboard.html", {"gateways": gateway_states(), "rollouts": last_rollouts()[:8]})
