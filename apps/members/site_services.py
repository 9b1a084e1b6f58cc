"""Services that write sites and rooms. Every refusal is a sentence; a save with an old version overwrites nothing.

Rooms do not reach gateways, so nothing is deployed.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.lib.database.bulk_copy import copy_rows
from apps.lib.errors import Conflict, Problem
from apps.lib.row_uses import list_uses
from apps.members.models import Room, Site
from apps.members.room_names import LONGEST_NAME, RoomName

LONGEST_CODE: Final = 8
LOWEST_FLOOR, HIGHEST_FLOOR = -9, 200


@dataclass(frozen=True, slots=True)
class AddedRooms:
    """The rooms that were added, and how many of the wanted ones existed already."""

    rooms: Sequence[Room]
    existing: int


def add_site(*, name: str, code: str) -> Site:
    """Add a site. Raises Problem when its name or code is taken or not possible."""
    site = Site(name=_clean_site_name(name), code=_clean_code(code))
    try:
        with transaction.atomic():
            site.save(force_insert=True)
    except IntegrityError as error:
        raise explain_site_error(error, site) from error
    return site


def change_site(*, site: Site, version: int, name: str, code: str) -> Site:
    """Change a site's name and code. Raises Conflict when it was changed since `version`, Problem as `add_site`."""
    given = {"name": _clean_site_name(name), "code": _clean_code(code)}
    try:
        _update(Site, site.pk, version, given)
    except IntegrityError as error:
        raise explain_site_error(error, Site(**given)) from error
    site.refresh_from_db()
    return site


@transaction.atomic
def remove_site(row: Site) -> int:
    """Remove the site with its rooms, and return their number. Raises Problem while a room is used. Removing twice is harmless."""
    list(Site.objects.select_for_update().filter(pk=row.pk).values_list("pk"))
    rooms = list(Room.objects.select_for_update().filter(site=row.pk).order_by("pk").values_list("pk", flat=True))
    _demand_unused(rooms, str(row))
    Room.objects.filter(pk__in=rooms).delete()
    Site.objects.filter(pk=row.pk).delete()
    return len(rooms)


def add_rooms(*, site: Site, rooms: Sequence[RoomName]) -> AddedRooms:
    """Add these rooms to the site. A room whose name exists there stays as it is. Raises Problem for an impossible name or floor."""
    new, ids, existing = _insert_rooms(site, rooms)
    made = [Room(pk=pk, version=1, site=site, floor=room.floor, name=room.name) for room, pk in zip(new, ids, strict=True)]
    return AddedRooms(made, existing)


def ensure_rooms(*, site: Site, rooms: Sequence[RoomName]) -> dict[str, int]:
    """Add those of these rooms that the site lacks, and return the ids of all its rooms by name in lower case. Raises Problem too."""
    _insert_rooms(site, rooms)
    return {name.lower(): pk for pk, name in Room.objects.filter(site=site).order_by().values_list("pk", "name")}


@transaction.atomic
def _insert_rooms(site: Site, rooms: Sequence[RoomName]) -> tuple[list[RoomName], list[int], int]:
    """Add the rooms that the site lacks. Return these, their ids, and how many of the wanted ones existed already."""
    wanted = {room.name.lower(): room for room in (RoomName(_check_floor(each.floor), _clean_room_name(each.name)) for each in rooms)}
    present = Site.objects.select_for_update(no_key=True).filter(pk=site.pk).first()
    if present is None:
        raise Problem(_("%(site)s was removed meanwhile.") % {"site": site}, "site")
    there = {name.lower() for name in Room.objects.filter(site=site).values_list("name", flat=True)}
    new = [room for key, room in wanted.items() if key not in there]
    ids = copy_rows(Room, ("version", "site_id", "floor", "name"), ((1, site.pk, room.floor, room.name) for room in new))
    return new, ids, len(wanted) - len(new)


def add_room(*, site: Site, floor: int, name: str) -> Room:
    """Add one room. Raises Problem when its name is taken."""
    added = add_rooms(site=site, rooms=[RoomName(floor, name)])
    if added.existing:
        raise _build_taken(site, name)
    return added.rooms[0]


def change_room(*, room: Room, version: int, floor: int, name: str) -> Room:
    """Change a room's floor and name. Raises Conflict when it was changed since `version`, Problem when the name is taken."""
    written = _clean_room_name(name)
    try:
        _update(Room, room.pk, version, {"floor": _check_floor(floor), "name": written})
    except IntegrityError as error:
        raise _build_taken(room.site, written) from error
    room.refresh_from_db()
    return room


@transaction.atomic
def remove_room(row: Room) -> None:
    """Remove the room. Raises Problem while it is used. Removing twice is harmless."""
    name = str(row)
    list(Room.objects.select_for_update().filter(pk=row.pk).values_list("pk"))
    _demand_unused([row.pk], name)
    Room.objects.filter(pk=row.pk).delete()


def explain_site_error(error: IntegrityError, site: Site) -> Problem:
    """Explain the constraint that refuses this site."""
    if "site_code" in str(error):
        other = Site.objects.filter(code__iexact=site.code).first()
        return Problem(_("The code %(code)s is taken by %(site)s.") % {"code": site.code, "site": other}, "code", culprit=other)
    if "name" in str(error):
        return Problem(_("There is a house “%(name)s” already.") % {"name": site.name}, "name")
    raise error


def explain_room(_error: IntegrityError, room: Room) -> Problem:
    """Explain the constraint that refuses this room."""
    site = Site.objects.filter(pk=room.site_id).first()
    if site is None:
        return Problem(_("The house of this room was removed; undo that first."), "site")
    return _build_taken(site, room.name)


def _build_taken(site: Site, name: str) -> Problem:
    other = Room.objects.filter(site=site, name__iexact=name.strip()).select_related("site").first()
    return Problem(_("%(site)s has a room %(name)s already.") % {"site": site, "name": name.strip()}, "name", culprit=other)


def _update(model: type[Site] | type[Room], pk: int, version: int, given: dict[str, Any]) -> None:
    """Write the values. Raises Conflict if the row is not at this version."""
    with transaction.atomic():
        if not model.objects.filter(pk=pk, version=version).update(**given, version=F("version") + 1):
            raise Conflict(_("It was changed or removed by someone else while you were editing. Look at it as it is now, then save again."))


def _demand_unused(rooms: Collection[int], name: str) -> None:
    uses = list_uses(Room, rooms)
    if uses:
        facts = {"name": name, "uses": ", ".join(use.words for use in uses)}
        raise Problem(_("%(name)s is in use: %(uses)s. Give them another room first.") % facts, culprit=uses[0].first)


def _clean_site_name(name: str) -> str:
    written = " ".join(name.split())
    if not written:
        raise Problem(_("Write a name."), "name")
    return written


def _clean_code(code: str) -> str:
    written = code.strip()
    if not re.fullmatch(rf"\w{{1,{LONGEST_CODE}}}", written):
        words = _("A code is 1 to %(most)d letters and digits, like B or H12: it begins the names of rooms.")
        raise Problem(words % {"most": LONGEST_CODE}, "code")
    return written


def _clean_room_name(name: str) -> str:
    written = " ".join(name.split())
    if not 0 < len(written) <= LONGEST_NAME:
        raise Problem(_("A room’s name has 1 to %(most)d characters.") % {"most": LONGEST_NAME}, "name")
    return written


def _check_floor(floor: int) -> int:
    if not LOWEST_FLOOR <= floor <= HIGHEST_FLOOR:
        raise Problem(_("A floor is between %(least)d and %(most)d.") % {"least": LOWEST_FLOOR, "most": HIGHEST_FLOOR}, "floor")
    return floor
