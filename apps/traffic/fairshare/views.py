"""Views of a gateway group's fair share and of its switch."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.network.models import GatewayGroup
from apps.traffic.fairshare import selectors, services
from apps.traffic.fairshare.forms import FairShareForm


@staff_page
def edit(request: HttpRequest, group: int) -> HttpResponse:
    """Show and change the group's fair share."""
    of = get_object_or_404(GatewayGroup, pk=group)
    form = FairShareForm(selectors.get_fair_share(of), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.set_fair_share(group=of, by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("rates:list")
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "fairshare/edit.html", {"group": of, "form": form}, status=422 if form.is_bound else 200)


@staff_page
def switch_fair_share_off(request: HttpRequest, group: int) -> HttpResponse:
    """Show what switching off does, then switch off."""
    of = get_object_or_404(GatewayGroup, pk=group)
    if request.method != "POST":
        return render(request, "fairshare/off.html", {"group": of, "number": selectors.list_releasable_limits(of).count()})
    services.switch_fair_share_off(group=of, by=get_signed_in_user(request))
    return redirect("rates:list")
