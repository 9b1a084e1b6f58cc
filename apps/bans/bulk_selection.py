"""Bans that are selected in a table, and the action for all of them."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.bans.forms import DirectionForm, EndForm
from apps.bans.models import Ban, BanList
from apps.bans.selectors import list_bans
from apps.lib.database.id_arrays import build_ids_filter
from apps.lib.web.query_params import parse_ids, parse_number

FIRST = 8
BULK_ACTIONS = ("lift", "end", "way")
TYPE_FROM = 100  # from this number of bans on, the number must be typed to lift them


def is_typed_number_missing(removed: int, typed: int) -> bool:
    """True if so many bans would be lifted that their number must be typed, and it was not."""
    return removed >= TYPE_FROM and typed != removed


@dataclass(frozen=True)
class BulkSelection:
    """The selected bans, the action for them, and whether it was confirmed.

    do: one of BULK_ACTIONS. typed: the number that was typed. whole: all bans of the search, not only those that were ticked.
    """

    banlist: BanList
    ids: list[int]
    do: str
    form: EndForm | DirectionForm
    confirmed: bool
    typed: int
    whole: bool
    search: str
    way: str = ""

    @property
    def lacks_typed_number(self) -> bool:
        return self.do == "lift" and is_typed_number_missing(len(self.ids), self.typed)

    @property
    def asks_for_number(self) -> bool:
        return self.do == "lift" and is_typed_number_missing(len(self.ids), 0)

    @property
    def is_ready(self) -> bool:
        return self.confirmed and bool(self.ids) and not self.lacks_typed_number and (self.do == "lift" or self.form.is_valid())

    @property
    def is_lifting(self) -> bool:
        return self.do == "lift"

    @property
    def more(self) -> int:
        """The number of bans that are not shown by name."""
        return max(0, len(self.ids) - FIRST)

    @property
    def first_bans(self) -> QuerySet[Ban]:
        """The first selected bans, to be shown by name."""
        return Ban.objects.filter(build_ids_filter(self.ids)).order_by("prefix")[:FIRST]


def parse_selection(banlist: BanList, given: Any) -> BulkSelection:
    """Read the selection from the form around the table, or from the confirmation after it."""
    whole, search = given.get("all") == "1", given.get("q", "")
    picked = parse_ids(given.getlist("pick"))
    way, do = given.get("way", ""), given.get("do") if given.get("do") in BULK_ACTIONS else "lift"
    bans = list_bans(banlist, search, way) if whole else Ban.objects.filter(list=banlist, pk__in=picked)
    confirmed = given.get("confirmed") == "1"
    return BulkSelection(
        banlist,
        list(bans.order_by().values_list("pk", flat=True)),
        do,
        (DirectionForm if do == "way" else EndForm)(given if confirmed else None),
        confirmed,
        parse_number(given, "typed"),
        whole,
        search,
        way,
    )
