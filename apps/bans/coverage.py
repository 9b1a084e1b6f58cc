"""Coverage of an address or prefix: the bans and allow entries that affect it, and which of them decides in each direction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from apps.bans.models import AllowEntry, Ban, Direction
from apps.bans.selectors import filter_unexpired_bans, list_covering_bans, list_unexpired_allow_entries, list_wider_prefixes
from apps.lib.fields import Prefix

FIRST, FEW = 50, 8
WIDER_OR_SAME = "SELECT set_masklen(banned, length) FROM unnest(%s::cidr[]) banned, generate_series(0, masklen(banned)) length"


@dataclass(frozen=True, slots=True)
class PrefixCoverage:
    """Bans and allow entries that cover the whole prefix, the widest first; and the number of those within it, which decide about
    parts of it.
    """

    prefix: Prefix
    bans: Sequence[Ban]
    allowed: Sequence[AllowEntry]
    bans_within: int
    allowed_within: int

    @property
    def incoming_deciding_entry(self) -> Ban | AllowEntry | None:
        """The entry that decides about connections from there; None: no ban keeps them out."""
        return self._find_decision(Direction.IN)

    @property
    def outgoing_deciding_entry(self) -> Ban | AllowEntry | None:
        """The entry that decides about connections to there; None: no ban keeps them out."""
        return self._find_decision(Direction.OUT)

    def _find_decision(self, way: Direction) -> Ban | AllowEntry | None:
        banned = [ban for ban in self.bans if ban.direction in (way, Direction.BOTH)]
        return (self.allowed or banned or [None])[0] if banned else None


def get_coverage(prefix: Prefix) -> PrefixCoverage:
    """Return what covers the prefix, in four queries, whatever the number of bans."""
    return PrefixCoverage(
        prefix,
        list(list_covering_bans(prefix).select_related("list", "author")[:FIRST]),
        list(list_covering_allow_entries(prefix)),
        filter_unexpired_bans(Ban.objects.filter(list__enabled=True, prefix__within=prefix)).exclude(prefix=prefix).count(),
        list_unexpired_allow_entries().filter(prefix__within=prefix).exclude(prefix=prefix).count(),
    )


def list_covering_allow_entries(prefix: Prefix) -> QuerySet[AllowEntry]:
    """Return the allow entries in force that cover the whole prefix, the widest first."""
    return (
        list_unexpired_allow_entries().filter(prefix__in=[*list_wider_prefixes(prefix), prefix]).select_related("author").order_by("prefix")
    )


def list_allow_entries_within(prefix: Prefix) -> QuerySet[AllowEntry]:
    """Return the allow entries in force that cover a part of the prefix."""
    return list_unexpired_allow_entries().filter(Q(prefix__within=prefix) & ~Q(prefix=prefix)).order_by("prefix")


def map_overruling_entries(bans: Iterable[Ban]) -> Mapping[Prefix, AllowEntry]:
    """Return those of the bans that have no effect, by prefix, with the widest allow entry that overrules them. One query."""
    prefixes = {ban.prefix for ban in bans}
    wider_or_same = RawSQL(WIDER_OR_SAME, [[str(prefix) for prefix in prefixes]])  # noqa: S611 - fixed text
    entries = sorted(list_unexpired_allow_entries().filter(prefix__in=wider_or_same), key=lambda entry: entry.prefix.prefixlen)
    found = {prefix: next((entry for entry in entries if _covers(entry.prefix, prefix)), None) for prefix in prefixes}
    return {prefix: entry for prefix, entry in found.items() if entry}


def _covers(wide: Prefix, narrow: Prefix) -> bool:
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]  # of one version


def get_overruled_bans(entry: AllowEntry) -> "OverruledBans":
    """Return the bans that the entry overrules, wholly or in part."""
    bans = filter_unexpired_bans(
        Ban.objects.filter(list__enabled=True).filter(Q(prefix__in=list_wider_prefixes(entry.prefix)) | Q(prefix__within=entry.prefix))
    )
    return OverruledBans(bans.count(), list(bans.select_related("list").order_by("prefix", "id")[:FEW]))


@dataclass(frozen=True, slots=True)
class OverruledBans:
    """The number of bans that an allow entry overrules, and the first of them."""

    number: int
    first: Sequence[Ban]

    @property
    def more(self) -> int:
        """The number of bans that are not named."""
        return self.number - len(self.first)
