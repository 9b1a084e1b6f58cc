"""Strips that show who carried each family over the last thirty days. Turns changes of carriers into positions and texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Min
from django.utils.translation import gettext as _

from apps.gateways.roles.models import CarrierChange
from apps.lib.ui import formats
from apps.network.models import Gateway, GatewayGroup

SPAN: Final = timedelta(days=30)
NARROWEST: Final = 0.3  # percent of the width: a moment without a carrier is seen, too
FAULTS: Final = frozenset({"none", "several"})
COLOURS: Final = ("a", "b", "c")  # of the gateways in the order of their names; later ones share the last


@dataclass(frozen=True, slots=True)
class Segment:
    """A time with the same carriers: left edge and width in percent, the colour, and a description."""

    left: str
    width: str
    colour: str
    words: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One family."""

    family: int
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All strips, the gateways with their colours, and when the strips begin: thirty days ago, or with the first report."""

    strips: Sequence[Strip]
    gateways: Sequence[tuple[str, str]]
    begin: datetime


def build_timeline(group: GatewayGroup, now: datetime) -> Timeline:
    """Build the strips of a group."""
    first = CarrierChange.objects.filter(group=group).aggregate(at=Min("at"))["at"] or now - SPAN
    begin = min(max(now - SPAN, first), now - timedelta(minutes=1))
    names = Gateway.objects.filter(group=group).order_by("name").values_list("name", flat=True)
    colours = {name: COLOURS[min(place, len(COLOURS) - 1)] for place, name in enumerate(names)}
    strips = [Strip(family, _build_segments(_list_changes(group, family, begin), colours, begin, now)) for family in (4, 6)]
    return Timeline([strip for strip in strips if strip.segments], list(colours.items()), begin)


def _list_changes(group: GatewayGroup, family: int, begin: datetime) -> list[CarrierChange]:
    """Return the changes since then, the earliest first, and the one before them."""
    changes = CarrierChange.objects.filter(group=group, family=family)
    before = changes.filter(at__lt=begin).order_by("-at", "-id")[:1]
    return [*before, *changes.filter(at__gte=begin).order_by("at", "id")]


def _build_segments(changes: Sequence[CarrierChange], colours: dict[str, str], begin: datetime, now: datetime) -> list[Segment]:
    ends = [*(each.at for each in changes[1:]), now]
    segments = [_build_segment(change, end, colours, begin, now) for change, end in zip(changes, ends, strict=False)]  # no change, no end
    return sorted(segments, key=lambda each: each.colour in FAULTS)  # drawn last, above their neighbours


def _build_segment(change: CarrierChange, end: datetime, colours: dict[str, str], begin: datetime, now: datetime) -> Segment:
    left, right = ((max(at, begin) - begin) / (now - begin) * 100 for at in (change.at, end))
    colour = {0: "none", 1: colours.get("".join(change.carriers), COLOURS[-1])}.get(len(change.carriers), "several")
    given = {
        "carriers": " + ".join(change.carriers) or _("no gateway"),
        "since": formats.format_full_time(change.at),
        "cause": change.get_cause_display(),
    }
    return Segment(f"{left:.2f}%", f"{max(right - left, NARROWEST):.2f}%", colour, _("%(carriers)s since %(since)s (%(cause)s)") % given)
