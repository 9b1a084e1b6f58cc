"""Pages of sites and rooms: the list, a site by floors, adding, changing and removing."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.permissions import staff_page
from apps.accounts.undo_page import answer_undo
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.lib.row_uses import list_uses
from apps.lib.ui import formats
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import site_services
from apps.members.forms_sites import RoomForm, RoomsForm, SiteForm
from apps.members.models import Room, Site
from apps.members.selectors_sites import list_floors, list_residents, list_sites

HISTORY = 8


@staff_page
def sites(request: HttpRequest) -> HttpResponse:
    """Show all sites with their numbers of rooms and members."""
    return render(request, "members/sites.html", {"sites": list_sites()})


@staff_page
def site(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the rooms of a site, one floor at a time, and who lives there."""
    found = get_object_or_404(list_sites(), pk=pk)
    floors = list_floors(found)
    wanted = request.GET.get("floor", "")
    shown = next((floor for floor in floors if str(floor.number) == wanted), floors[0] if floors else None)
    context = {
        "site": found,
        "floors": floors,
        "shown": shown,
        "rooms": list_residents(found, shown.number) if shown else [],
        "entries": list_row_history(found, HISTORY),
    }
    return render(request, "members/site.html", context)


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a site."""
    form = SiteForm(data=request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = site_services.add_site(**form.get_facts())
            return redirect("members:rooms-add", made.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "members/site_form.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a site's name and code."""
    found = get_object_or_404(Site, pk=pk)
    form = SiteForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            site_services.change_site(site=found, version=form.get_version(), **form.get_facts())
            return redirect("members:site", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "members/site_form.html", {"form": form, "site": found}, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask before a site is removed with its rooms, or say what uses them; on POST, remove it."""
    found = get_object_or_404(Site, pk=pk)
    rooms = list(found.rooms.values_list("pk", flat=True))
    if request.method != "POST":
        uses = list_uses(Room, rooms)
        return render(request, "members/site_remove.html", {"site": found, "number": len(rooms), "uses": uses})
    return _remove(request, lambda: site_services.remove_site(found), str(found), reverse("members:site", args=[pk]))


@staff_page
@require_POST
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a site."""
    return answer_undo(request, Site, event, back="members:sites")


@staff_page
def add_rooms(request: HttpRequest, pk: int) -> HttpResponse:
    """Add rooms to a site, many at once; HTMX asks beforehand which they would be."""
    found = get_object_or_404(Site, pk=pk)
    form = RoomsForm(data=request.POST if request.method == "POST" else None)
    if request.headers.get("HX-Target") == "rooms-preview":
        return render(request, "members/rooms_add.html#preview", _preview_rooms(found, form))
    if form.is_valid():
        try:
            added = site_services.add_rooms(site=found, rooms=form.get_rooms())
            messages.success(request, _describe_added(found, len(added.rooms), added.existing))
            return redirect("members:site", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "members/rooms_add.html", {"form": form, "site": found}, status=422 if form.is_bound else 200)


@staff_page
def edit_room(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a room's floor and name."""
    found = get_object_or_404(Room.objects.select_related("site"), pk=pk)
    form = RoomForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            site_services.change_room(room=found, version=form.get_version(), **form.get_facts())
            return redirect(_build_floor_url(found))
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"form": form, "room": found, "back": _build_floor_url(found), "entries": list_row_history(found, HISTORY)}
    return render(request, "members/room.html", context, status=422 if form.is_bound else 200)


@staff_page
def remove_room(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask before a room is removed, or say who uses it; on POST, remove it."""
    found = get_object_or_404(Room.objects.select_related("site"), pk=pk)
    back = _build_floor_url(found)
    if request.method != "POST":
        return render(request, "members/room_remove.html", {"room": found, "uses": list_uses(Room, [pk]), "back": back})
    return _remove(request, lambda: site_services.remove_room(found), str(found), back, back)


@staff_page
@require_POST
def undo_room(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a room."""
    return answer_undo(request, Room, event, back="members:sites")


def _remove(request: HttpRequest, remove: Any, name: str, kept: str, gone: str = "") -> HttpResponse:
    """Remove a row and say so. kept, gone: URLs to show if it was refused, and if it was done (default: the list of sites)."""
    try:
        remove()
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect(kept)
    messages.success(request, _("%(name)s has been removed. The history can undo this.") % {"name": name})
    return redirect(gone or "members:sites")


def _build_floor_url(room: Room) -> str:
    return f"{reverse('members:site', args=[room.site_id])}?floor={room.floor}"


def _preview_rooms(site: Site, form: RoomsForm) -> dict[str, Any]:
    """Return the rooms that the form would add, or the first thing that is wrong with it."""
    if not form.is_valid():
        return {"problem": next(iter(form.errors.values()))[0] if form.data.get("doors", "").strip() else ""}
    rooms = form.get_rooms()
    return {"number": len(rooms), "first": f"{site.code}-{rooms[0].name}", "last": f"{site.code}-{rooms[-1].name}"}


def _describe_added(site: Site, number: int, existing: int) -> str:
    added = ngettext("%(number)s room added to %(site)s.", "%(number)s rooms added to %(site)s.", number)
    there = ngettext("%(number)s was there already.", "%(number)s were there already.", existing) if existing else ""
    said = added % {"number": formats.format_number(number), "site": site}
    return f"{said} {there % {'number': formats.format_number(existing)}}" if there else said
