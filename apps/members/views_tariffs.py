"""Pages of tariffs: the list, adding one, changing and removing one."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.undo_page import answer_undo
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import tariff_services
from apps.members.forms import TariffForm
from apps.members.models import Tariff
from apps.members.selectors import count_members, list_tariffs
from apps.members.tariff_services import TariffTerms


@staff_page
def tariffs(request: HttpRequest) -> HttpResponse:
    """Show all tariffs with their numbers of members."""
    return render(request, "members/tariffs.html", {"tariffs": list_tariffs()})


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a tariff."""
    form = TariffForm(data=request.POST if request.method == "POST" else None)
    if form.is_valid() and _try_save(form, lambda terms: tariff_services.add_tariff(terms=terms, by=get_signed_in_user(request))):
        return redirect("members:tariffs")
    return render(request, "members/tariff.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a tariff."""
    tariff = get_object_or_404(Tariff, pk=pk)
    form = TariffForm(tariff, request.POST if request.method == "POST" else None)

    def save(terms: TariffTerms) -> object:
        version = form.cleaned_data["version"] or 0
        return tariff_services.change_tariff_terms(tariff=tariff, version=version, terms=terms, by=get_signed_in_user(request))

    if form.is_valid() and _try_save(form, save):
        return redirect("members:tariffs")
    shown = {"form": form, "tariff": tariff, "number": count_members(tariff), "entries": list_row_history(tariff, 8)}
    return render(request, "members/tariff.html", shown, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask before a tariff is removed; on POST, remove it."""
    tariff = get_object_or_404(Tariff, pk=pk)
    if request.method != "POST":
        return render(request, "members/tariff_remove.html", {"tariff": tariff})
    try:
        tariff_services.remove_tariff(tariff)
        messages.success(request, _("%(name)s has been removed. The history can undo this.") % {"name": tariff})
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("members:tariff", pk)
    return redirect("members:tariffs")


@staff_page
@require_POST
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a tariff."""
    return answer_undo(request, Tariff, event, back="members:tariffs")


def _try_save(form: TariffForm, save: Callable[[TariffTerms], object]) -> bool:
    """Return True if the service accepted the form; otherwise show its refusal at the field concerned."""
    try:
        save(form.build_terms())
    except Problem as problem:
        add_problem_to_form(form, problem)
        return False
    return True
