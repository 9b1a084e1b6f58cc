"""Finds the members that an announcement reaches, and counts them for the preview.

An active member is reached who fits one of the chosen of each kind, and all kinds of which something was chosen. Reads the database;
writes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.announcements.models import Announcement
from apps.lib.database.email_lookups import AsciiLower
from apps.lib.database.validity import is_valid_now
from apps.mail.models import SwitchedOff
from apps.members.models import Member
from apps.nat.models import NatMapping
from apps.network.models import Holding

KIND: Final = "announcements"
"""Kind of the notices that members can switch off."""
SAMPLE: Final = 5


@dataclass(frozen=True)
class AudiencePreview:
    """Whom an announcement would reach now. languages: number of members by language. names: of the first few.

    no_address, unwanted: members who get no mail, because they have no address or switched such mails off.
    """

    members: int
    no_address: int
    unwanted: int
    languages: Mapping[str, int]
    names: tuple[str, ...]

    @property
    def by_mail(self) -> int:
        return self.members - self.no_address - self.unwanted

    @property
    def more_names(self) -> int:
        """Number of members beyond the sample."""
        return self.members - len(self.names)


def list_reached_members(announcement: Announcement) -> QuerySet[Member]:
    """Return the members whom the announcement reaches now, without an order."""
    found = Member.objects.filter(state=Member.State.ACTIVE).order_by()
    for kind in announcement.narrowed_by:
        found = found.filter(_CONDITIONS[kind](announcement))
    return found


def preview_audience(announcement: Announcement) -> AudiencePreview:
    """Count the members whom the announcement reaches now, with two queries."""
    reached = list_reached_members(announcement)
    counted = reached.aggregate(
        members=Count("pk"),
        no_address=Count("pk", filter=Q(email="")),
        unwanted=Count("pk", filter=~Q(email="") & Q(make_unwilling_condition())),
        de=Count("pk", filter=Q(language="de")),
    )
    languages = {"de": counted["de"], "en": counted["members"] - counted["de"]}
    names = tuple(reached.order_by("name", "pk").values_list("name", flat=True)[:SAMPLE])
    return AudiencePreview(counted["members"], counted["no_address"], counted["unwanted"], languages, names)


def make_unwilling_condition() -> Exists:
    """Return the condition that a member has switched mails about announcements off."""
    off = SwitchedOff.objects.filter(notice=KIND).annotate(reader=AsciiLower("address"))
    return Exists(off.filter(reader=AsciiLower(OuterRef("email"))))


def _make_site_condition(announcement: Announcement) -> Q:
    return Q(room__site__in=announcement.sites.all())


def _make_tariff_condition(announcement: Announcement) -> Q:
    return Q(tariff__in=announcement.tariffs.all())


def _make_group_condition(announcement: Announcement) -> Q:
    return Q(Exists(_list_holdings().filter(group__in=announcement.groups.all())))


def _make_pool_condition(announcement: Announcement) -> Q:
    """Make the condition that a member holds an address of these pools, or leaves as one of their public addresses."""
    leaves = NatMapping.objects.filter(is_valid_now(), holding__member=OuterRef("pk"))
    chosen = {"pool__in": announcement.pools.all()}
    return Q(Exists(_list_holdings().filter(**chosen))) | Q(Exists(leaves.filter(**chosen)))


def _list_holdings() -> QuerySet[Holding]:
    return Holding.objects.filter(is_valid_now(), member=OuterRef("pk"))


_CONDITIONS: Final[Mapping[str, Callable[[Announcement], Q]]] = {
    "sites": _make_site_condition,
    "pools": _make_pool_condition,
    "groups": _make_group_condition,
    "tariffs": _make_tariff_condition,
}
