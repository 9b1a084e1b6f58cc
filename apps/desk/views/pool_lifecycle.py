"""Pages that enlarge and split a pool, retire it, and take it back into service."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk.selectors import addresses as reading
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form, replace_input
from apps.lib.web.query_params import parse_number
from apps.network import pool_lifecycle
from apps.network.forms import EnlargementForm, PoolSplitForm
from apps.network.models import Pool


@staff_page
def enlarge(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a larger prefix, show what it makes of the pool, and enlarge it once that was seen."""
    found = get_object_or_404(Pool.objects.select_related("group"), pk=pk)
    form = EnlargementForm(found, request.POST if request.method == "POST" else None)
    shown: dict[str, object] = {}
    if form.is_valid():
        prefix = form.cleaned_data["prefix"]
        try:
            if form.cleaned_data["seen"]:
                given = {"version": form.cleaned_data["version"], "prefix": prefix}
                pool_lifecycle.enlarge_pool(pool=found, by=get_signed_in_user(request), **given)
                messages.success(request, _("%(name)s has been enlarged. No member’s address changed.") % {"name": found})
                return redirect("network:pool", pk)
            after = pool_lifecycle.plan_enlargement(found, prefix)
            shown = {"after": after, "now": reading.build_pool_usage(found).size, "then": reading.build_pool_usage(after).size}
            form.hide()
        except Problem as problem:
            add_problem_to_form(form, problem)
            replace_input(form, "seen", "")  # something else may follow now
    return _render(request, "network/pool_enlarge.html", found, form, shown)


@staff_page
def split(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the prefix length of the parts, show them, and split the pool once they were seen."""
    found = get_object_or_404(Pool.objects.select_related("group"), pk=pk)
    form = PoolSplitForm(found, request.POST if request.method == "POST" else None)
    shown: dict[str, object] = {}
    if form.is_valid():
        length = form.cleaned_data["length"]
        try:
            if form.cleaned_data["seen"]:
                given = {"version": form.cleaned_data["version"], "length": length}
                made = pool_lifecycle.split_pool(pool=found, by=get_signed_in_user(request), **given)
                words = _("%(name)s is %(number)d pools now. No member’s address changed.")
                messages.success(request, words % {"name": found.name, "number": len(made)})
                return redirect("network:addresses")
            shown = {"parts": pool_lifecycle.plan_split(found, length)}
            form.hide()
        except Problem as problem:
            add_problem_to_form(form, problem)
            replace_input(form, "seen", "")  # something else may follow now
    return _render(request, "network/pool_split.html", found, form, shown)


@staff_page
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what retiring a pool does, or taking it back; do it on POST."""
    found = get_object_or_404(Pool.objects.select_related("group"), pk=pk)
    if request.method != "POST":
        return render(request, "network/pool_retire.html", {"pool": found, "shown": reading.build_pool_usage(found)})
    version = parse_number(request.POST, "version")
    try:
        if request.POST.get("back") == "1":
            pool_lifecycle.reinstate_pool(pool=found, version=version, by=get_signed_in_user(request))
            messages.success(request, _("%(name)s is back in service.") % {"name": found})
        else:
            pool_lifecycle.retire_pool(pool=found, version=version, by=get_signed_in_user(request))
            messages.success(request, _("%(name)s is out of service. What members hold stays theirs.") % {"name": found})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("network:pool", pk)


def _render(request: HttpRequest, template: str, pool: Pool, form: forms.Form, shown: dict[str, object]) -> HttpResponse:
    return render(request, template, {"pool": pool, "form": form} | shown, status=422 if form.errors else 200)
