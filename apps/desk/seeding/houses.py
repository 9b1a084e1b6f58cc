"""Seeded sites, floors and rooms: enough for all members."""

from dataclasses import dataclass
from typing import Final

CODES: Final = "ABCDE"
_FLOORS: Final = 6
_FEWEST_ON_A_FLOOR: Final = 16


@dataclass(frozen=True, slots=True)
class SeedRoom:
    """A room, with the code of its site."""

    site: str
    floor: int
    name: str


def make_rooms(members: int) -> list[SeedRoom]:
    """Return at least as many rooms as members, in three to five sites; 214 is the fourteenth room on the second floor."""
    codes = CODES[: max(3, min(len(CODES), members // 200))]
    on_a_floor = max(_FEWEST_ON_A_FLOOR, -(-members // (len(codes) * _FLOORS)))
    digits = max(2, len(str(on_a_floor)))
    return [
        SeedRoom(code, floor, f"{floor}{number:0{digits}}")
        for code in codes
        for floor in range(_FLOORS)
        for number in range(1, on_a_floor + 1)
    ]
