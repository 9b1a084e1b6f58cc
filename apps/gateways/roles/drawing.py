"""Drawing of the ways that members' packets take: from the members through the gateway that carries a family to the uplink.

Boxes are HTML in the same grid; this gives the lines behind them. Heights are in rem, so that they follow the size of the text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from apps.gateways.roles.picture import RolesPicture

BOX: Final = 5.0  # rem, height of a gateway's box
GAP: Final = 1.5  # rem between two boxes
APART: Final = 0.5  # rem between the lines of two families and the middle


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line: ends in percent of the width, and in rem from the top. kind: “4” or “6” of a family, “lost” without a carrier, “link”."""

    kind: str
    x1: str
    y1: str
    x2: str
    y2: str


def draw_ways(picture: RolesPicture) -> list[PictureLine]:
    """Return the lines of a group's picture."""
    middles = {status.pk: BOX / 2 + place * (BOX + GAP) for place, status in enumerate(picture.statuses)}
    height = len(middles) * (BOX + GAP) - GAP
    return [*_iter_links(list(middles.values())), *_iter_ways(picture, middles, height / 2)]


def _iter_links(middles: Sequence[float]) -> Iterator[PictureLine]:
    """Yield the sync links between gateways that stand below each other."""
    for middle in middles[:-1]:
        yield PictureLine("link", "50%", f"{middle + BOX / 2}rem", "50%", f"{middle + BOX / 2 + GAP}rem")


def _iter_ways(picture: RolesPicture, middles: dict[int, float], middle: float) -> Iterator[PictureLine]:
    for each in picture.families:
        shift = -APART if each.family == 4 else APART
        edge = f"{middle + shift}rem"
        for role in each.carrying:
            box = f"{middles.get(role.status_id, middle) + shift}rem"
            yield PictureLine(str(each.family), "24%", edge, "32%", box)
            yield PictureLine(str(each.family), "68%", box, "76%", edge)
        if not each.carrying:
            yield PictureLine("lost", "24%", edge, "30%", edge)
