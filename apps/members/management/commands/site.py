"""manage.py site: adds, lists, changes and removes houses and their rooms."""

from argparse import ArgumentParser
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.lib.errors import Problem
from apps.members import site_services
from apps.members.models import Room, Site
from apps.members.room_names import build_room_names
from apps.members.selectors_sites import list_sites


class Command(BaseCommand):
    help = "Houses (sites) and their rooms: add, list, change, add rooms, remove a room or a house that no member uses."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="add | list | change | rooms | remove-room | remove")
        add = what.add_parser("add", help="add a house")
        add.add_argument("code", help="begins the names of its rooms: B")
        add.add_argument("name", help="“House B”")
        what.add_parser("list", help="list all houses with their numbers of rooms and members")
        change = what.add_parser("change", help="change a house's name or code")
        change.add_argument("code")
        change.add_argument("--name")
        change.add_argument("--new-code", metavar="CODE")
        rooms = what.add_parser("rooms", help="add rooms: the same doors on each of some floors")
        rooms.add_argument("code")
        rooms.add_argument("doors", help="“01-16, 20, Kitchen”")
        rooms.add_argument("--floors", default="0", help="“0-4”, or one floor (default: %(default)s)")
        rooms.add_argument("--whole-names", action="store_true", help="the doors are whole names: do not put the floor in front of them")
        one = what.add_parser("remove-room", help="remove a room in which no member lives")
        one.add_argument("room", help="B-214")
        what.add_parser("remove", help="remove a house with its rooms, if no member lives there").add_argument("code")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with pghistory.context(cause=f"site {options['what']}"):
                getattr(self, f"_{options['what'].replace('-', '_')}")(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _add(self, options: dict[str, Any]) -> None:
        made = site_services.add_site(name=options["name"], code=options["code"])
        self.stdout.write(f"{made} is added. Its rooms, for example: manage.py site rooms {made.code} 01-16 --floors 0-4")

    def _list(self, _options: dict[str, Any]) -> None:
        rows = list(list_sites())
        for row in rows:
            counts = f"rooms {row.room_number} (free {row.free_number})  members {row.member_number}"  # type: ignore[attr-defined]  # annotated
            self.stdout.write(f"{row.code}  {row.name}  {counts}")
        if not rows:
            self.stdout.write("No house yet. Add one with “manage.py site add”.")

    def _change(self, options: dict[str, Any]) -> None:
        site = _get_site(options["code"])
        name, code = options["name"] or site.name, options["new_code"] or site.code
        changed = site_services.change_site(site=site, version=site.version, name=name, code=code)
        self.stdout.write(f"{changed.code}  {changed.name}")

    def _rooms(self, options: dict[str, Any]) -> None:
        rooms = build_room_names(_parse_floors(options["floors"]), options["doors"], floor_first=not options["whole_names"])
        added = site_services.add_rooms(site=_get_site(options["code"]), rooms=rooms)
        self.stdout.write(f"{len(added.rooms)} rooms added, {added.existing} were there already.")

    def _remove_room(self, options: dict[str, Any]) -> None:
        code, _dash, name = options["room"].partition("-")
        room = Room.objects.select_related("site").filter(site=_get_site(code), name__iexact=name).first()
        if room is None:
            raise CommandError(f"There is no room {options['room']}.")
        site_services.remove_room(room)
        self.stdout.write(f"{room} is removed.")

    def _remove(self, options: dict[str, Any]) -> None:
        site = _get_site(options["code"])
        number = site_services.remove_site(site)
        self.stdout.write(f"{site} and its rooms ({number}) are removed.")


def _get_site(code: str) -> Site:
    """Return the site with this code. Raises CommandError with the existing codes."""
    found = Site.objects.filter(code__iexact=code).first()
    if found is None:
        codes = ", ".join(Site.objects.values_list("code", flat=True)) or "–"
        raise CommandError(f"There is no house with the code {code}. Codes: {codes}.")
    return found


def _parse_floors(text: str) -> range:
    """Return the floors of `2` or `0-4`; `-1` is one floor below the ground."""
    first, _dash, last = text.removeprefix("-").partition("-")
    try:
        low = int(first) * (-1 if text.startswith("-") else 1)
        return range(low, (int(last) if last else low) + 1)
    except ValueError as error:
        raise CommandError(f"“{text}” is not a floor or a range of floors. Write it like 2 or 0-4.") from error
