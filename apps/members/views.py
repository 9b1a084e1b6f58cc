"""Pages of tariffs: the list, adding one, and changing one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.accounts.permissions import get_person, staff_page
from apps.lib.errors import Problem
from apps.members import services
from apps.members.forms import TariffForm
from apps.members.models import Tariff
from apps.members.selectors import count_members, list_tariffs


@staff_page
def tariffs(request: HttpRequest) -> HttpResponse:
    """Show all tariffs with their numbers of members."""
    return render(request, "members/tariffs.html", {"tariffs": list_tariffs()})


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a tariff."""
    form = TariffForm(data=request.POST if request.method == "POST" else None)
    if form.is_valid() and _try_save(form, lambda given: services.add_tariff(by=get_person(request), **given)):
        return redirect("members:tariffs")
    return render(request, "members/tariff.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a tariff."""
    tariff = get_object_or_404(Tariff, pk=pk)
    form = TariffForm(tariff, request.POST if request.method == "POST" else None)
    version = form.cleaned_data["version"] or 0 if form.is_valid() else 0
    if form.is_valid() and _try_save(
        form, lambda given: services.change_tariff_terms(tariff=tariff, version=version, by=get_person(request), **given)
    ):
        return redirect("members:tariffs")
    shown = {"form": form, "tariff": tariff, "number": count_members(tariff)}
    return render(request, "members/tariff.html", shown, status=422 if form.is_bound else 200)


def _try_save(form: TariffForm, save: Any) -> bool:
    """Return True if the service accepted the form; otherwise show its refusal at the field concerned."""
    try:
        save(form.to_kwargs())
    except Problem as problem:
        form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
        return False
    return True
