"""Names of many rooms, as people write them: doors such as `01-16, 20, Kitchen`, on one floor or on each of several."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.lib.errors import Problem

MOST_ROOMS_AT_ONCE: Final = 2_000
LONGEST_NAME: Final = 20  # characters, of Room.name
LONGEST_TEXT: Final = 2_000  # characters
_RANGE: Final = re.compile(r"(\D*?)(\d{1,9})\s*[-–]\s*(\D*?)(\d{1,9})")


@dataclass(frozen=True, slots=True, order=True)
class RoomName:
    """A room's floor, and the name on its door."""

    floor: int
    name: str


def build_room_names(floors: Iterable[int], doors: str, *, floor_first: bool) -> list[RoomName]:
    """Return the rooms of these floors, without repetitions. floor_first: the floor begins the name, as in 214 for door 14 on floor 2.

    Raises Problem, at the field `doors`, for an empty, impossible or too long list.
    """
    chosen = list(floors)
    written = list(dict.fromkeys(parse_doors(doors)))
    if not written:
        raise Problem(_("Write at least one door, like 01-16, 20, Kitchen."), "doors")
    if floor_first and any(floor < 0 for floor in chosen):
        raise Problem(_("Floors below 0 cannot begin a name; write these doors in full."), "floor_first")
    if len(chosen) * len(written) > MOST_ROOMS_AT_ONCE:
        raise Problem(_("These are more than %(most)d rooms. Add them in several steps.") % {"most": MOST_ROOMS_AT_ONCE}, "doors")
    named = [RoomName(floor, f"{floor}{door}" if floor_first else door) for floor in chosen for door in written]
    too_long = next((room.name for room in named if len(room.name) > LONGEST_NAME), "")
    if too_long:
        raise Problem(_("“%(name)s” is longer than %(most)d characters.") % {"name": too_long, "most": LONGEST_NAME}, "doors")
    return named


def parse_doors(text: str) -> Iterator[str]:
    """Yield the doors of a list: names, and ranges of numbers. A range keeps the leading zeros of its beginning, and a common prefix."""
    for part in re.split(r"[,;\n]", text[:LONGEST_TEXT]):
        door = " ".join(part.split())
        found = _RANGE.fullmatch(door)
        if found and found[3].strip() in ("", found[1].strip()):
            yield from _iter_range(door, found[1], found[2], found[4])
        elif door:
            yield door


def _iter_range(written: str, prefix: str, first: str, last: str) -> Iterator[str]:
    low, high = int(first), int(last)
    if low > high:
        raise Problem(_("“%(range)s” ends before it begins.") % {"range": written}, "doors")
    if high - low >= MOST_ROOMS_AT_ONCE:
        raise Problem(_("“%(range)s” is more than %(most)d rooms.") % {"range": written, "most": MOST_ROOMS_AT_ONCE}, "doors")
    return (f"{prefix}{number:0{len(first)}}" for number in range(low, high + 1))
