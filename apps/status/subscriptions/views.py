"""Public pages that ask for a subscription and confirm it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.accounts.client_address import get_limit_key
from apps.accounts.throttle import RequestRate
from apps.lib.errors import Problem
from apps.status.page.addresses import build_portal_addresses
from apps.status.subscriptions import services
from apps.status.subscriptions.forms import SubscribeForm

RATE = RequestRate(each_minute=2, at_once=5)
"""Subscriptions that one computer may ask for."""


def subscribe(request: HttpRequest) -> HttpResponse:
    """Show the ways to hear of updates. POST sends a link to confirm to the given address."""
    form = SubscribeForm(request.POST if request.method == "POST" else None)
    sent = False
    if form.is_valid():
        try:
            _check_rate(request)
            services.ask_for_subscription(**form.cleaned_data)
            sent = True
        except Problem as problem:
            form.add_problem(problem)
    shown = {"form": form, "sent": sent, "address": form.cleaned_data["address"] if sent else "", "at": build_portal_addresses()}
    return render(request, "status/page/subscribe.html", shown, status=422 if form.is_bound and not sent else 200)


def _check_rate(request: HttpRequest) -> None:
    if RATE.admit_request(f"status:{get_limit_key(request)}"):
        raise Problem(_("Too many addresses were entered from here. Try again in a few minutes."))


def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Say what the link confirms; POST confirms it. GET changes nothing: mail scanners open every link."""
    found = services.find_subscription(token)
    if found is None:
        return render(request, "status/page/confirm.html", status=404)
    if request.method == "POST":
        services.confirm_subscription(subscription=found)
    return render(request, "status/page/confirm.html", {"found": found, "done": request.method == "POST"})
