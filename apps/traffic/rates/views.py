"""Views of rate limits: the list, limiting and releasing a member, and each group's uplink and switch."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.network.models import GatewayGroup
from apps.traffic.fairshare.selectors import list_fair_share_statuses
from apps.traffic.rates import selectors, services
from apps.traffic.rates.fair_queues import list_queue_lacks
from apps.traffic.rates.forms import LimitForm, UplinkForm
from apps.traffic.rates.models import RateLimit

PER_PAGE = 50


@staff_page
def limits(request: HttpRequest) -> HttpResponse:
    """List present and past rate limits, and each group's uplink and fair share."""
    asked = request.GET
    state = asked.get("state", "now") if asked.get("state") in selectors.STATES else "now"
    reason = asked.get("reason", "") if asked.get("reason") in RateLimit.Reason.values else ""
    page = Paginator(selectors.list_rate_limits(state, asked.get("q", ""), reason), PER_PAGE).get_page(asked.get("page"))
    shown = {"page": page, "rows": selectors.build_rows(page), "state": state, "reason": reason, "search": asked.get("q", "").strip()}
    released = RateLimit.objects.filter(pk=parse_number(asked, "released")).select_related("member").first()
    more = {
        "reasons": RateLimit.Reason.choices,
        "number": selectors.list_rate_limits().count(),
        "uplinks": selectors.list_uplinks(),
        "shares": list_fair_share_statuses(timezone.now()),
        "released": released,
    }
    return render(request, "rates/limits.html", shown | more)


@staff_page
def limit(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what limiting the member does, then do it. A present limit is replaced if it is the one that the page showed."""
    member = get_object_or_404(Member, pk=pk)
    present = selectors.find_current_limit(member)
    form = LimitForm(request.POST if request.method == "POST" else None, present=present)
    if form.is_valid():
        try:
            if present and parse_number(request.POST, "instead_of") == present.pk:
                services.replace_limit(present=present, by=get_signed_in_user(request), **form.to_kwargs())
            else:
                services.limit_member(member=member, by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("rates:list")
        except Problem as problem:
            form.add_problem(problem)
    shown: dict[str, Any] = {"member": member, "form": form, "there": present}
    return render(request, "rates/limit.html", shown, status=422 if form.is_bound else 200)


@staff_page
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what releasing does, then do it."""
    found = get_object_or_404(RateLimit.objects.select_related("member__tariff"), pk=pk)
    if request.method != "POST":
        return render(request, "rates/release.html", {"that": found})
    services.release_rate_limits(limits=[pk], by=get_signed_in_user(request))
    return redirect(f"{reverse('rates:list')}?released={pk}")


@staff_page
def uplink(request: HttpRequest, group: int) -> HttpResponse:
    """Show and change the rates of a group's uplink and its switch of rate limits."""
    of = get_object_or_404(GatewayGroup, pk=group)
    form = UplinkForm(selectors.get_uplink(of), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.set_uplink(group=of, by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("rates:list")
        except Problem as problem:
            add_problem_to_form(form, problem)
    shown = {"group": of, "form": form, "lacks": list_queue_lacks(of)}
    return render(request, "rates/uplink.html", shown, status=422 if form.is_bound else 200)


@staff_page
def switch(request: HttpRequest, group: int) -> HttpResponse:
    """Show what the switch does, then switch."""
    of = get_object_or_404(GatewayGroup, pk=group)
    now = selectors.get_uplink(of)
    if request.method != "POST":
        return render(request, "rates/switch.html", {"group": of, "uplink": now, "number": selectors.list_rate_limits().count()})
    services.switch_rate_limits(group=of, on=request.POST.get("on") == "1", by=get_signed_in_user(request))
    return redirect("rates:list")
