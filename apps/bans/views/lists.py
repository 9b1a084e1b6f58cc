"""Pages for ban lists: overview, one list with its bans, switching, changing, deleting, and downloads."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from apps.accounts.permissions import staff_page
from apps.audit.selectors import list_row_history
from apps.bans import ban_list_page, export, services
from apps.bans.bulk_selection import is_typed_number_missing
from apps.bans.forms import BanForm, BanListChangeForm, BanListForm
from apps.bans.models import BanList
from apps.bans.selectors import count_bans, summarize_list
from apps.bans.selectors import list_ban_lists as all_lists
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number
from apps.network.models import Gateway

LAST_CHANGES = 8
EXPORTS = {"txt": (export.iter_text, "text/plain"), "csv": (export.iter_csv, "text/csv"), "json": (export.iter_json, "application/json")}


@staff_page
def lists(request: HttpRequest) -> HttpResponse:
    """List all ban lists with their hits, with the form for a new one."""
    form = BanListForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = services.create_list(**form.cleaned_data, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
            return redirect("bans:list", made.pk)
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    shown = ban_list_page.sort_ban_lists(all_lists(), request.GET.get("sort", "name"))
    return render(request, "bans/lists.html", {"lists": shown, "form": form, "sort": "name"}, status=422 if form.is_bound else 200)


def _get_list(pk: int) -> BanList:
    return get_object_or_404(BanList, pk=pk)


def format_all_gateway_names() -> str:
    """Return the names of all gateways, as they stand after “on” or “from”: "nat-1, nat-2"; "all gateways" while there is none."""
    return ", ".join(Gateway.objects.order_by("name").values_list("name", flat=True)) or pgettext("after on or from", "all gateways")


@staff_page
def banlist(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one list with its bans, and the form for a new ban."""
    found = _get_list(pk)
    part = "#bans" if request.headers.get("HX-Target") == "bans" else ""
    return render(request, f"bans/list.html{part}", build_whole_page(found, request.GET))


def build_whole_page(found: BanList, asked: Any, form: BanForm | None = None) -> dict[str, Any]:
    """Return the context of the page with the list's history. asked: the query parameters; form: of a ban that was refused."""
    return ban_list_page.build_ban_list_context(found, asked, form) | {"entries": list_row_history(found, LAST_CHANGES)}


@staff_page
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what turning the list on or off does; after confirmation, do it."""
    found = _get_list(pk)
    if request.method != "POST":
        return render(request, "bans/switch.html", {"list": found, "brief": summarize_list(found), "gateways": format_all_gateway_names()})
    on = request.POST.get("on") == "1"
    services.change_list(list=found, version=found.version, name=found.name, description=found.description, enabled=on, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    said = (
        _("“%(list)s” is on: its bans go to the gateways now.")
        if on
        else _("“%(list)s” is off: its bans are removed from the gateways now.")
    )
    messages.success(request, said % {"list": found})
    return redirect("bans:list", pk)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the name and description of the list."""
    found = _get_list(pk)
    form = BanListChangeForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.change_list(list=found, enabled=found.enabled, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]  # staff_page
            return redirect("bans:list", pk)
        except Conflict as conflict:
            form.show_conflict(str(conflict), _get_list(pk))
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    return render(request, "bans/edit_list.html", {"list": _get_list(pk), "form": form}, status=422 if form.is_bound else 200)


@staff_page
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is deleted with the list; after confirmation, delete it. For a large list, the number of bans must be typed."""
    found = _get_list(pk)
    bans = count_bans(found)
    if request.method != "POST" or is_typed_number_missing(bans, parse_number(request.POST, "typed")):
        shown = {"list": found, "bans": bans, "gateways": format_all_gateway_names(), "type": is_typed_number_missing(bans, 0)}
        return render(request, "bans/delete_list.html", shown)
    gone = services.delete_list(list=found, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    words = ngettext("“%(list)s” and its %(n)d ban are deleted.", "“%(list)s” and its %(n)d bans are deleted.", gone)
    messages.success(request, words % {"list": found.name, "n": gone})
    return redirect("bans:lists")


@staff_page
def download(_request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """Stream the list as text, CSV or JSON while it is read from the database."""
    found = get_object_or_404(BanList, pk=pk)
    write, kind = EXPORTS[form]
    response = StreamingHttpResponse(write(found), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="bans-{found.pk}.{form}"'
    return response
