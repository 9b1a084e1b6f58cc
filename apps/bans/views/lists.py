"""Ban lists: all of them, one with its bans, switching, changing, deleting, and as a file."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.permissions import staff_page
from apps.audit.selectors import history_of
from apps.bans import export, panel, services
from apps.bans.bulk_selection import must_type
from apps.bans.forms import ListChangeForm, ListForm
from apps.bans.models import BanList
from apps.bans.selectors import in_brief
from apps.bans.selectors import lists as all_lists
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway

LAST_CHANGES = 8
EXPORTS = {"txt": (export.as_text, "text/plain"), "csv": (export.as_csv, "text/csv"), "json": (export.as_json, "application/json")}


@staff_page
def lists(request: HttpRequest) -> HttpResponse:
    """All lists with how much they keep out; the form for a new one."""
    form = ListForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = services.create_list(**form.cleaned_data, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
            return redirect("bans:list", made.pk)
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    shown = panel.sorted_lists(all_lists(), request.GET.get("sort", "name"))
    return render(request, "bans/lists.html", {"lists": shown, "form": form, "sort": "name"}, status=422 if form.is_bound else 200)


def _list(pk: int) -> BanList:
    return get_object_or_404(BanList, pk=pk)


def gateways_in_words() -> str:
    """nat-1, nat-2"""
    return ", ".join(Gateway.objects.order_by("name").values_list("name", flat=True)) or _("no gateway yet")


@staff_page
def banlist(request: HttpRequest, pk: int) -> HttpResponse:
    """One list: its bans, and the form for another."""
    found = _list(pk)
    shown = panel.context(found, request.GET) | {"entries": history_of(found, LAST_CHANGES)}
    part = "#bans" if request.headers.get("HX-Target") == "bans" else ""
    return render(request, f"bans/list.html{part}", shown)


@staff_page
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what switching the list on or off does; then do it."""
    found = _list(pk)
    if request.method != "POST":
        return render(request, "bans/switch.html", {"list": found, "brief": in_brief(found), "gateways": gateways_in_words()})
    on = request.POST.get("on") == "1"
    services.change_list(list=found, version=found.version, name=found.name, description=found.description, enabled=on, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    said = _("“%(list)s” is on: its bans go to the gateways now.") if on else _("“%(list)s” is off: its bans leave the gateways now.")
    messages.success(request, said % {"list": found})
    return redirect("bans:list", pk)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Rename and describe the list."""
    found = _list(pk)
    form = ListChangeForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.change_list(list=found, enabled=found.enabled, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]  # staff_page
            return redirect("bans:list", pk)
        except Conflict as conflict:
            form.take_up(str(conflict), _list(pk))
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    return render(request, "bans/edit_list.html", {"list": _list(pk), "form": form}, status=422 if form.is_bound else 200)


@staff_page
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what goes with the list; then delete it. From a size on, the number must be typed."""
    found = _list(pk)
    bans = found.bans.count()
    if request.method != "POST" or must_type(bans, panel.number(request.POST, "typed")):
        shown = {"list": found, "bans": bans, "gateways": gateways_in_words(), "type": must_type(bans, 0)}
        return render(request, "bans/delete_list.html", shown)
    gone = services.delete_list(list=found, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    words = ngettext("“%(list)s” and its %(n)d ban are deleted.", "“%(list)s” and its %(n)d bans are deleted.", gone)
    messages.success(request, words % {"list": found.name, "n": gone})
    return redirect("bans:lists")


@staff_page
def download(_request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """The list as text, CSV or JSON, as it is read from the database."""
    found = get_object_or_404(BanList, pk=pk)
    write, kind = EXPORTS[form]
    response = StreamingHttpResponse(write(found), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="bans-{found.pk}.{form}"'
    return response
