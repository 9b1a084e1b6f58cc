"""Staff page of the port rules for members."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.port_ranges import PortsListField
from apps.lib.ui.form_errors import add_problem_to_form
from apps.nat.rules import services
from apps.nat.rules.models import PortRules
from apps.network.models import GatewayGroup


class RulesForm(forms.Form):
    """Changes a group's port rules. `version`: the version that the page showed; 0: the group had none."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1)
    lowest = forms.IntegerField(
        label=gettext_lazy("Lowest port"),
        min_value=1,
        max_value=65535,
        help_text=gettext_lazy("Administrators can open lower ones"),
    )
    longest = forms.IntegerField(label=gettext_lazy("Longest range"), min_value=1, max_value=1000)
    forbidden = PortsListField(
        label=gettext_lazy("Forbidden ports"), required=False, max_length=4000, help_text=gettext_lazy("Like 1900, 5060-5061, 11211")
    )

    def __init__(self, rules: PortRules, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(rules, name) for name in ("version", "lowest", "longest", "forbidden")})


@staff_page
def rules(request: HttpRequest, group: int) -> HttpResponse:
    """Show and change the port rules of a group."""
    of = get_object_or_404(GatewayGroup, pk=group)
    form = RulesForm(services.get_port_rules(of.pk), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.change_port_rules(group=of, by=get_signed_in_user(request), **form.cleaned_data)
            messages.success(request, _("Saved. This applies to ports that are opened from now on."))
            return redirect("nat:forwards")
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "nat/rules.html", {"form": form, "group": of}, status=422 if form.errors else 200)
