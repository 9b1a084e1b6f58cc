"""Views of canned answers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Conflict, Problem
from apps.tickets import canned as kept
from apps.tickets.forms import CannedForm
from apps.tickets.models import Canned

PLACES = [(f"{{{name}}}", words) for name, (words, _fill) in kept.PLACES.items()]


@staff_page
def answers(request: HttpRequest) -> HttpResponse:
    """List all canned answers."""
    return render(request, "tickets/canned.html", {"answers": Canned.objects.order_by("name"), "places": PLACES})


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a canned answer."""
    form = CannedForm(request.POST if request.method == "POST" else None)
    return _save_or_render(request, form, None, lambda: kept.add_canned_answer(by=get_signed_in_user(request), **form.to_kwargs()))


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a canned answer."""
    found = get_object_or_404(Canned, pk=pk)
    form = CannedForm(request.POST if request.method == "POST" else None, found)
    return _save_or_render(
        request, form, found,
        lambda: kept.change_canned_answer(
            canned=found, version=form.cleaned_data["version"] or 0, by=get_signed_in_user(request), **form.to_kwargs()
        ),
    )  # fmt: skip


def _save_or_render(request: HttpRequest, form: CannedForm, found: Canned | None, save: Callable[[], object]) -> HttpResponse:
    if form.is_valid():
        try:
            save()
            return redirect("tickets:canned")
        except Problem as problem:
            form.add_problem(problem)
            if found and isinstance(problem, Conflict):
                form.data = {**request.POST.dict(), "version": str(Canned.objects.get(pk=found.pk).version)}
    shown = {"form": form, "answer": found, "places": PLACES}
    return render(request, "tickets/canned_edit.html", shown, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is removed, then remove it."""
    found = get_object_or_404(Canned, pk=pk)
    if request.method != "POST":
        return render(request, "tickets/canned_remove.html", {"answer": found})
    kept.remove_canned_answer(canned=found, by=get_signed_in_user(request))
    return redirect("tickets:canned")
