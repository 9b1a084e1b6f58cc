"""Where the people of a table live: rooms that exist, and houses and rooms that would have to be made. Pure."""

import re
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.desk.people_import.known_network import KnownNetwork, KnownSite
from apps.desk.people_import.person_row import PersonRow
from apps.lib.errors import Problem
from apps.members.room_names import LONGEST_NAME
from apps.members.site_services import LONGEST_CODE

type SiteKey = int | str
"""The id of a house, or the name in lower case of one that is to be made."""
type RoomKey = tuple[SiteKey, str]
"""A house, and the name of a room in lower case."""
_FLOOR_FIRST: Final = re.compile(r"(\d)\d{2}\D*")


@dataclass(frozen=True, slots=True)
class WantedSite:
    """A house to be made."""

    name: str
    code: str


@dataclass(frozen=True, slots=True)
class WantedRoom:
    """A room to be made."""

    site: SiteKey
    floor: int
    name: str


class RoomPlanner:
    """Finds the room of each line. With `create`, notes houses and rooms that do not exist; otherwise they are problems."""

    def __init__(self, known: KnownNetwork, *, create: bool) -> None:
        self.sites: dict[str, WantedSite] = {}
        self.rooms: dict[RoomKey, WantedRoom] = {}
        self._known, self._create = known, create
        self._by_word = {word.lower(): site for site in reversed(known.sites) for word in (site.name, site.code)}
        self._by_code = {site.code.lower(): site for site in known.sites}
        self._codes = set(self._by_code)
        self._written = self._index_rooms()

    def _index_rooms(self) -> dict[str, tuple[int, ...]]:
        """Return the rooms by how people write them: B-214, b214 and “B 214” are the same (`members/selectors.py`)."""
        codes = {site.id: site.code.lower() for site in self._known.sites}
        found: dict[str, tuple[int, ...]] = {}
        for (site, name), room in self._known.rooms.items():
            written = _strip_separators(codes[site] + name)
            found[written] = (*found.get(written, ()), room)
        return found

    def find(self, row: PersonRow) -> int | RoomKey | None:
        """Return the room's id, or the key of a room to be made; None if the line names none. Raises Problem at `house` or `room`."""
        if row.house is None:
            return self._find_by_whole_name(row) if row.room is not None else None
        if row.room is None:
            raise Problem(_("The room is missing: nobody lives in a house without one."), "house")
        site = self._by_word.get(row.house.lower())
        if site:
            return self._find_in_site(site, row, row.room)
        if row.house.lower() not in self.sites:
            self._add_site(row.house, row.house)
        return self._add_room(row.house.lower(), row, row.room, row.house)

    def _find_by_whole_name(self, row: PersonRow) -> int | RoomKey:
        """Find a room such as B-214; in a network with one house, also 214."""
        text = row.room or ""
        code, _separator, door = (part.strip() for part in text.partition("-" if "-" in text else " "))
        exact = self._by_code.get(code.lower())
        if exact and (exact.id, door.lower()) in self._known.rooms:
            return self._known.rooms[exact.id, door.lower()]
        rooms = self._written.get(_strip_separators(text), ())
        if len(rooms) == 1:
            return rooms[0]
        if len(rooms) > 1:
            raise Problem(_("There are several rooms “%(text)s”. Write the house into a column of its own.") % {"text": text}, "room")
        site = self._by_word.get(code.lower()) if door else None
        if site:
            return self._find_in_site(site, row, door)
        if len(self._known.sites) == 1:
            return self._find_in_site(self._known.sites[0], row, text)
        if not door:
            words = _("There is no room “%(text)s”. Write the house and the door, like B-214, or the house into a column of its own.")
            raise Problem(words % {"text": text}, "room")
        if code.lower() not in self.sites:
            self._add_site(code, code)
        return self._add_room(code.lower(), row, door, code)

    def _find_in_site(self, site: KnownSite, row: PersonRow, door: str) -> int | RoomKey:
        for name in (door, _strip_code(door, site.code)):
            room = self._known.rooms.get((site.id, name.lower()))
            if room is not None:
                return room
        return self._add_room(site.id, row, _strip_code(door, site.code), site.name)

    def _add_room(self, site: SiteKey, row: PersonRow, door: str, house: str) -> RoomKey:
        if not self._create:
            facts = {"house": house, "room": door}
            raise Problem(_("%(house)s has no room %(room)s. Add it, or let the import create missing houses and rooms.") % facts, "room")
        if len(door) > LONGEST_NAME:
            raise Problem(_("A room’s name has 1 to %(most)d characters.") % {"most": LONGEST_NAME}, "room")
        key = (site, door.lower())
        self.rooms.setdefault(key, WantedRoom(site, _choose_floor(row.floor, door), door))
        return key

    def _add_site(self, name: str, house: str) -> None:
        if not self._create:
            facts = {"house": house}
            raise Problem(_("There is no house “%(house)s”. Add it, or let the import create missing houses and rooms.") % facts, "house")
        code = self._choose_code(name)
        self._codes.add(code.lower())
        self.sites[name.lower()] = WantedSite(name, code)

    def _choose_code(self, name: str) -> str:
        """Return a free code for a new house: its name if that is short, else its initials, with a number if they are taken."""
        word = re.sub(r"\W", "", name)
        short = name if re.fullmatch(rf"\w{{1,{LONGEST_CODE}}}", name) else "".join(re.findall(r"\b\w", name))[:4].upper() or word[:4]
        base = short or "H"
        candidates = [base, *(f"{base[: LONGEST_CODE - len(str(number))]}{number}" for number in range(2, 1000))]
        return next((code for code in candidates if code.lower() not in self._codes), base)


def _strip_separators(text: str) -> str:
    return "".join(text.lower().replace("-", "").split())


def _strip_code(door: str, code: str) -> str:
    """Return 214 for B-214 in house B."""
    rest = door[len(code) :]
    return rest[1:].strip() if door.lower().startswith(code.lower()) and rest[:1] in ("-", " ") and rest[1:].strip() else door


def _choose_floor(floor: int | None, door: str) -> int:
    """Return the floor of a new room: the given one, or the first digit of a door of three digits, or 0."""
    found = _FLOOR_FIRST.fullmatch(door)
    return floor if floor is not None else int(found[1]) if found else 0
