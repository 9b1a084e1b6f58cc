"""Bans of a list: added, changed, lifted, one or many, and taken back."""

from typing import cast
from uuid import UUID

import pghistory
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.accounts.permissions import staff_page
from apps.audit.selectors import history_of
from apps.bans import panel, services, undo
from apps.bans.bulk_selection import Choice, choice_of
from apps.bans.coverage import allowed_parts
from apps.bans.forms import BanForm, ChangeForm, EndForm
from apps.bans.models import Ban, BanList
from apps.bans.selectors import hits_of
from apps.bans.views.lists import gateways_in_words
from apps.lib.errors import Conflict, Problem

LAST_CHANGES = 20


def _ban(pk: int) -> Ban:
    return get_object_or_404(Ban.objects.select_related("list", "author"), pk=pk)


def _to_list(pk: int, **done: object) -> HttpResponse:
    said = "&".join(f"{name}={value}" for name, value in done.items())
    return redirect(f"{reverse('bans:list', args=[pk])}?{said}#bans")


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Ban an address or prefix."""
    banlist, form = get_object_or_404(BanList, pk=pk), BanForm(request.POST)
    if form.is_valid():
        cleaned = form.cleaned_data
        given = {"prefix": cleaned["address"], "comment": cleaned["comment"], "direction": cleaned["direction"], "expires": form.expires()}
        try:
            made = services.ban(list=banlist, author=request.user, **given)  # type: ignore[arg-type]  # staff_page: signed in
            return _added(request, banlist, made)
        except Problem as problem:
            form.take(problem)
    part = "#add" if request.headers.get("HX-Request") else ""
    return render(request, f"bans/list.html{part}", panel.context(banlist, request.GET, form), status=422)


def _added(request: HttpRequest, banlist: BanList, made: Ban) -> HttpResponse:
    """The table with the new ban said, and an empty form, or the page."""
    if not request.headers.get("HX-Request"):
        return _to_list(banlist.pk, saved=made.pk)
    return render(request, "bans/list.html#added", panel.context(banlist, {"saved": str(made.pk)}) | {"oob": True, "added": True})


@staff_page
def saved(request: HttpRequest, pk: int) -> HttpResponse:
    """The strip that says where a saved ban is active, and its pair; nothing while the page says so already."""
    ban = _ban(pk)
    shown = panel.done(ban.list, {"saved": str(pk)})
    if ",".join(shown["saved"].waits_for) == request.GET.get("waits"):
        return HttpResponse(status=204)
    return render(request, "bans/list.html#strip", shown | {"list": ban.list, "oob": True})


@staff_page
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """A ban with its history: change comment and end."""
    ban = _ban(pk)
    form = ChangeForm(ban, request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = {name: form.cleaned_data[name] for name in ("comment", "direction", "version")} | {"expires": form.expires()}
        try:
            services.change_ban(ban=ban, by=request.user, **given)  # type: ignore[arg-type]  # staff_page: signed in
            return _to_list(ban.list.pk, saved=ban.pk)
        except Conflict as conflict:
            form.take_up(str(conflict), _ban(pk))
        except Problem as problem:
            form.take(problem)
    shown = {"ban": ban, "form": form, "entries": history_of(ban, LAST_CHANGES), "row": panel.rows([ban], ban.list)[0]}
    shown["parts_allowed"] = allowed_parts(ban.prefix)[:5]
    return render(request, "bans/ban.html", shown, status=422 if form.is_bound else 200)


@staff_page
def lift(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what lifting does; then lift."""
    ban = _ban(pk)
    if request.method != "POST":
        shown = {"ban": ban, "hits": hits_of([ban]).get(ban.prefix), "others": panel.elsewhere(ban.list, ban.prefix)}
        return render(request, "bans/lift.html", shown | {"gateways": gateways_in_words()})
    with pghistory.context() as history:
        services.lift(ban=ban, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _to_list(ban.list.pk, lifted=history.id)


@staff_page
@require_POST
def revert(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the last change of a ban."""
    ban = _ban(pk)
    try:
        undo.revert(ban=ban, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    except Problem as problem:
        messages.error(request, str(problem))
    return _to_list(ban.list.pk, saved=ban.pk)


@staff_page
@require_POST
def restore(request: HttpRequest, pk: int, history: UUID) -> HttpResponse:
    """Undo what a request lifted."""
    banlist = get_object_or_404(BanList, pk=pk)
    return _to_list(pk, restored=undo.restore(list=banlist, request=history, by=request.user))  # type: ignore[arg-type]  # staff_page


@staff_page
@require_POST
def bulk(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what would be done to the selected bans, or do it, once that was confirmed."""
    banlist = get_object_or_404(BanList, pk=pk)
    chosen = choice_of(banlist, request.POST)
    if chosen.ready:
        return {"lift": _lifted, "end": _ended, "way": _directed}[chosen.do](request, chosen)
    return render(request, "bans/bulk.html", {"list": banlist, "choice": chosen, "gateways": gateways_in_words()})


def _lifted(request: HttpRequest, choice: Choice) -> HttpResponse:
    with pghistory.context() as history:
        services.lift_many(bans=choice.ids, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _to_list(choice.banlist.pk, lifted=history.id)


def _directed(request: HttpRequest, choice: Choice) -> HttpResponse:
    direction = choice.form.cleaned_data["direction"]
    return _to_list(choice.banlist.pk, ways=undo.set_direction(bans=choice.ids, direction=direction, by=request.user))  # type: ignore[arg-type]  # staff_page


def _ended(request: HttpRequest, choice: Choice) -> HttpResponse:
    form = cast("EndForm", choice.form)
    try:
        changed = undo.set_ends(bans=choice.ids, expires=form.expires(), by=request.user)  # type: ignore[arg-type]  # staff_page
    except Problem as problem:
        form.add_error("until", str(problem))
        return render(request, "bans/bulk.html", {"list": choice.banlist, "choice": choice, "gateways": gateways_in_words()}, status=422)
    return _to_list(choice.banlist.pk, ends=changed)
