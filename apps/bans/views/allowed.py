"""Pages of the allow list: its entries, changing one, and removing one."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.bans import allow_list
from apps.bans.coverage import get_overruled_bans
from apps.bans.forms import AllowChangeForm, AllowForm
from apps.bans.models import AllowEntry
from apps.bans.views.lists import format_all_gateway_names
from apps.lib.activation import list_activations
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.activation_status import list_activation_statuses

PER_PAGE, LAST_CHANGES = 50, 20


@staff_page
def entries(request: HttpRequest) -> HttpResponse:
    """List all entries, with the form for a new one."""
    form = AllowForm(request.POST) if request.method == "POST" else AllowForm(initial={"address": request.GET.get("prefix", "")})
    if form.is_valid():
        given = {"prefix": form.cleaned_data["address"], "comment": form.cleaned_data["comment"], "expires": form.compute_end()}
        try:
            made = allow_list.allow_prefix(author=get_signed_in_user(request), **given)
            messages.success(request, _("Saved. In a moment, no ban affects %(prefix)s any more.") % {"prefix": made.prefix_text})
            return redirect("bans:allowed")
        except Problem as problem:
            form.add_problem(problem)
    page = Paginator(AllowEntry.objects.select_related("author"), PER_PAGE).get_page(request.GET.get("page"))
    shown = {"page": page, "rows": list_activation_statuses(page), "form": form, "now": timezone.now()}
    return render(request, "bans/allowed.html", shown, status=422 if form.is_bound else 200)


@staff_page
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an entry with its history and the bans that it overrules; change its comment and end."""
    entry = get_object_or_404(AllowEntry.objects.select_related("author"), pk=pk)
    form = AllowChangeForm(entry, request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = {"comment": form.cleaned_data["comment"], "expires": form.compute_end(), "version": form.cleaned_data["version"]}
        try:
            allow_list.change_entry(entry=entry, by=get_signed_in_user(request), **given)
            messages.success(request, _("Saved."))
            return redirect("bans:allowed")
        except Conflict as conflict:
            form.show_conflict(str(conflict), get_object_or_404(AllowEntry, pk=pk))
        except Problem as problem:
            form.add_problem(problem)
    [(_entry, gateways)] = list_activations([entry])
    shown = {
        "entry": entry,
        "form": form,
        "gateways": gateways,
        "entries": list_row_history(entry, LAST_CHANGES),
        "bans": get_overruled_bans(entry),
    }
    shown["ended"] = entry.expires is not None and entry.expires <= timezone.now()
    return render(request, "bans/allow_entry.html", shown, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what removing the entry does; after confirmation, remove it."""
    entry = get_object_or_404(AllowEntry, pk=pk)
    if request.method != "POST":
        return render(
            request, "bans/disallow.html", {"entry": entry, "bans": get_overruled_bans(entry), "gateways": format_all_gateway_names()}
        )
    allow_list.remove_entry(entry=entry, by=get_signed_in_user(request))
    messages.success(request, _("%(prefix)s is no longer on the allow list: bans affect it again.") % {"prefix": entry.prefix_text})
    return redirect("bans:allowed")
