"""Pages for the bans of a list: adding, changing, lifting and undoing, for one ban or many."""

from typing import cast
from uuid import UUID

import pghistory
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.bans import ban_list_page, services, undo
from apps.bans.bulk_selection import BulkSelection, parse_selection
from apps.bans.coverage import list_allow_entries_within
from apps.bans.forms import BanChangeForm, BanForm, EndForm
from apps.bans.models import Ban, BanList
from apps.bans.selectors import map_hits
from apps.bans.views.lists import build_whole_page, format_all_gateway_names
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number

LAST_CHANGES = 20


def _get_ban(pk: int) -> Ban:
    return get_object_or_404(Ban.objects.select_related("list", "author"), pk=pk)


def _redirect_to_list(request: HttpRequest, pk: int, **done: object) -> HttpResponse:
    """Redirect to the list as it was: the request's query says what it showed."""
    return redirect(f"{reverse('bans:list', args=[pk])}{ban_list_page.build_list_query(request.GET, **done)}#bans")


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Ban an address or prefix."""
    banlist, form = get_object_or_404(BanList, pk=pk), BanForm(request.POST)
    if form.is_valid():
        cleaned = form.cleaned_data
        given = {
            "prefix": cleaned["address"],
            "comment": cleaned["comment"],
            "direction": cleaned["direction"],
            "expires": form.compute_end(),
        }
        try:
            made = services.ban_prefix(list=banlist, author=request.user, **given)  # type: ignore[arg-type]  # staff_page: signed in
            return _render_added(request, banlist, made)
        except Problem as problem:
            form.add_problem(problem)
    if request.headers.get("HX-Request"):
        return render(request, "bans/list.html#add", ban_list_page.build_ban_list_context(banlist, request.GET, form), status=422)
    whole = build_whole_page(banlist, request.GET, form) | {"page_path": reverse("bans:list", args=[pk])}
    return render(request, "bans/list.html", whole, status=422)


def _render_added(request: HttpRequest, banlist: BanList, made: Ban) -> HttpResponse:
    """Render the table with the new ban and an empty form for HTMX; else redirect to the list."""
    if not request.headers.get("HX-Request"):
        return _redirect_to_list(request, banlist.pk, saved=made.pk, version=made.version)
    asked = {**request.GET.dict(), "saved": str(made.pk), "version": str(made.version)}
    return render(request, "bans/list.html#added", ban_list_page.build_ban_list_context(banlist, asked) | {"oob": True, "added": True})


@staff_page
def saved_ban_strip(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the strip that shows where a saved ban is active, and what else covers it; 204 while nothing has changed."""
    ban = _get_ban(pk)
    shown = ban_list_page.build_action_result_context(ban.list, {**request.GET.dict(), "saved": str(pk)})
    if ",".join(shown["saved"].waits_for) == request.GET.get("waits"):
        return HttpResponse(status=204)
    return render(request, "bans/list.html#strip", shown | {"list": ban.list, "oob": True})


@staff_page
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a ban with its history; change its comment, direction and end."""
    ban = _get_ban(pk)
    form = BanChangeForm(ban, request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = {name: form.cleaned_data[name] for name in ("comment", "direction", "version")} | {"expires": form.compute_end()}
        try:
            services.change_ban(ban=ban, by=request.user, **given)  # type: ignore[arg-type]  # staff_page: signed in
            return _redirect_to_list(request, ban.list.pk, saved=ban.pk, version=form.cleaned_data["version"] + 1)
        except Conflict as conflict:
            form.show_conflict(str(conflict), _get_ban(pk))
        except Problem as problem:
            form.add_problem(problem)
    shown = {
        "ban": ban,
        "form": form,
        "entries": list_row_history(ban, LAST_CHANGES),
        "row": ban_list_page.build_ban_rows([ban], ban.list)[0],
    }
    shown["parts_allowed"] = list_allow_entries_within(ban.prefix)[:5]
    return render(request, "bans/ban.html", shown, status=422 if form.is_bound else 200)


@staff_page
def lift(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what lifting the ban does; after confirmation, lift it."""
    ban = _get_ban(pk)
    if request.method != "POST":
        shown = {"ban": ban, "hits": map_hits([ban]).get(ban.prefix), "others": ban_list_page.list_bans_elsewhere(ban.list, ban.prefix)}
        more = {"gateways": format_all_gateway_names(), "list_query": ban_list_page.build_list_query(request.GET)}
        return render(request, "bans/lift.html", shown | more)
    with pghistory.context() as history:
        services.lift_ban(ban=ban, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _redirect_to_list(request, ban.list.pk, lifted=history.id)


@staff_page
@require_POST
def revert(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the change that made the ban the given version, unless it was changed again since."""
    ban, version = _get_ban(pk), parse_number(request.GET, "version")
    try:
        undo.revert_ban(ban=ban, version=version, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return _redirect_to_list(request, ban.list.pk)
    return _redirect_to_list(request, ban.list.pk, saved=ban.pk, version=version + 1)


@staff_page
@require_POST
def restore(request: HttpRequest, pk: int, history: UUID) -> HttpResponse:
    """Restore the bans that a request lifted."""
    banlist = get_object_or_404(BanList, pk=pk)
    restored = undo.restore_lifted_bans(list=banlist, request=history, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _redirect_to_list(request, pk, restored=restored)


@staff_page
@require_POST
def bulk_action(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the action does to the selected bans; after confirmation, do it."""
    banlist = get_object_or_404(BanList, pk=pk)
    chosen = parse_selection(banlist, request.POST)
    if chosen.is_ready:
        return {"lift": _lift_selected, "end": _end_selected, "way": _direct_selected}[chosen.do](request, chosen)
    return _render_confirmation(request, chosen)


def _render_confirmation(request: HttpRequest, choice: BulkSelection, status: int = 200) -> HttpResponse:
    shown = {"list": choice.banlist, "choice": choice, "gateways": format_all_gateway_names()}
    return render(request, "bans/bulk.html", shown | {"list_query": ban_list_page.build_list_query(request.GET)}, status=status)


def _lift_selected(request: HttpRequest, choice: BulkSelection) -> HttpResponse:
    with pghistory.context() as history:
        services.lift_bans(bans=choice.ids, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _redirect_to_list(request, choice.banlist.pk, lifted=history.id)


def _direct_selected(request: HttpRequest, choice: BulkSelection) -> HttpResponse:
    direction = choice.form.cleaned_data["direction"]
    changed = undo.set_ban_direction(bans=choice.ids, direction=direction, by=request.user)  # type: ignore[arg-type]  # staff_page
    return _redirect_to_list(request, choice.banlist.pk, ways=changed)


def _end_selected(request: HttpRequest, choice: BulkSelection) -> HttpResponse:
    form = cast("EndForm", choice.form)
    try:
        changed = undo.set_ban_ends(bans=choice.ids, expires=form.compute_end(), by=request.user)  # type: ignore[arg-type]  # staff_page
    except Problem as problem:
        form.add_error("until", str(problem))
        return _render_confirmation(request, choice, status=422)
    return _redirect_to_list(request, choice.banlist.pk, ends=changed)
