"""Whom an announcement reaches: every audience of a small network, compared with what a person would say of each member."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import product
from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.announcements import services
from apps.announcements.audience import list_reached_members, preview_audience
from apps.announcements.models import AUDIENCE_KINDS, Announcement
from apps.lib.database.validity import make_range_until_now
from apps.lib.errors import Problem
from apps.mail.services import switch_notice_off
from apps.members.models import Member, Room, Site, Tariff
from apps.nat.services import map_address
from apps.network.models import GatewayGroup, Holding, Pool
from tests import announcement_factories, factories

CHOICES: Final = ((), (0,), (1,), (0, 1))


@dataclass(frozen=True)
class Neighbour:
    """A member as a person knows them: numbers of house, tariff, pools and group, None for none."""

    pk: int
    site: int | None
    tariff: int
    pools: frozenset[int]
    group: int | None

    def fits(self, sites: tuple[int, ...], tariffs: tuple[int, ...], pools: tuple[int, ...], groups: tuple[int, ...]) -> bool:
        return (
            (not sites or self.site in sites)
            and (not tariffs or self.tariff in tariffs)
            and (not pools or bool(self.pools & set(pools)))
            and (not groups or self.group in groups)
        )


@dataclass(frozen=True)
class SmallNetwork:
    """Two of each kind, and a neighbour for each combination. pools: two private ones, one in each group, and a public one."""

    mara: User
    sites: list[Site]
    tariffs: list[Tariff]
    groups: list[GatewayGroup]
    pools: list[Pool]
    neighbours: list[Neighbour]


@pytest.fixture
def small(db: None) -> SmallNetwork:
    mara = factories.user()
    sites = [Site.objects.create(name=f"House {code}", code=code) for code in "AB"]
    rooms = [Room.objects.create(site=each, floor=1, name="101") for each in sites]
    tariffs = [Tariff.objects.create(name=name) for name in ("Student", "Family")]
    groups = [GatewayGroup.objects.create(name=name) for name in ("North", "South")]
    pools = [factories.pool(group, "private4", f"10.{number}.0.0/16") for number, group in enumerate(groups)]
    pools.append(factories.pool(groups[0], "public4", "198.51.100.0/24"))
    neighbours = []
    for number, (site, tariff, place) in enumerate(product((None, 0, 1), (0, 1), (None, 0, 1, "public"))):
        room = None if site is None else rooms[site]
        who = factories.member(f"Neighbour {number}", room=room, tariff=tariffs[tariff])
        private = 0 if place == "public" else place
        if isinstance(private, int):
            holding = factories.make_holding(who, pools[private], f"10.{private}.0.{number + 1}/32")
            if place == "public":
                map_address(holding=holding, public=ip_address("198.51.100.7"), by=mara)
        held = frozenset({private, *((2,) if place == "public" else ())} - {None})
        neighbours.append(Neighbour(who.pk, site, tariff, held, private if isinstance(private, int) else None))
    return SmallNetwork(mara, sites, tariffs, groups, pools, neighbours)


def iter_audiences() -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every choice of houses, tariffs, pools and groups."""
    yield from product(CHOICES, CHOICES, (*CHOICES, (2,), (1, 2)), CHOICES)


def address(small: SmallNetwork, chosen: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
    """Return the facts of an audience."""
    kinds: list[tuple[str, list[Any]]] = [
        ("sites", small.sites), ("tariffs", small.tariffs), ("pools", small.pools), ("groups", small.groups)
    ]  # fmt: skip
    return {name: [rows[number] for number in numbers] for (name, rows), numbers in zip(kinds, chosen, strict=True)}


def list_reached(row: Announcement) -> set[int]:
    return set(list_reached_members(row).values_list("pk", flat=True))


def test_every_audience_reaches_whom_a_person_would_say(small: SmallNetwork) -> None:
    wrong, sizes = [], set()
    for chosen in iter_audiences():
        found = list_reached(announcement_factories.draft(small.mara, **address(small, chosen)))
        wanted = {each.pk for each in small.neighbours if each.fits(*chosen)}
        sizes.add(len(wanted))
        if found != wanted:
            wrong.append((chosen, found ^ wanted))
    assert wrong == []
    assert {0, 24} < sizes and len(sizes) > 10, "the audiences tell members apart"


def test_a_member_with_several_addresses_counts_once(small: SmallNetwork) -> None:
    [twice] = [each for each in small.neighbours if each.site == 0 and each.tariff == 0 and each.pools == {0}]
    factories.make_holding(Member.objects.get(pk=twice.pk), small.pools[0], "10.0.9.9/32")
    row = announcement_factories.draft(small.mara, sites=small.sites[:1], tariffs=small.tariffs[:1], pools=small.pools)
    assert preview_audience(row).members == 3 == len(list_reached(row))


def leave_pool(who: int) -> None:
    Holding.objects.filter(member=who).update(valid=make_range_until_now())


def end_membership(who: int) -> None:
    Member.objects.filter(pk=who).update(state=Member.State.LEFT)


def wait_for_activation(who: int) -> None:
    Member.objects.filter(pk=who).update(state=Member.State.PENDING)


@pytest.mark.parametrize("change", [leave_pool, end_membership, wait_for_activation])
def test_who_left_the_pool_or_is_no_active_member_is_not_reached(small: SmallNetwork, change: Callable[[int], None]) -> None:
    row = announcement_factories.draft(small.mara, pools=small.pools[1:2])
    [who, *others] = sorted(list_reached(row))
    change(who)
    assert list_reached(row) == set(others)


def test_an_announcement_to_a_house_that_is_removed_reaches_nobody_instead_of_everybody(small: SmallNetwork) -> None:
    made = Site.objects.create(name="House C", code="C")
    row = announcement_factories.draft(small.mara, sites=[made])
    made.delete()
    row.refresh_from_db()
    assert (row.sites.count(), row.audience, list_reached(row)) == (0, "House C", set())


def change(row: Announcement, small: SmallNetwork, **changes: Any) -> Announcement:
    """Change a draft with what a form sends: its audience as it is now, and the changes."""
    audience: dict[str, Any] = {kind: list(getattr(row, kind).all()) for kind in AUDIENCE_KINDS}
    words: dict[str, Any] = {"title_en": "Not water", "text_en": "But power.", "shown_until": row.shown_until}
    facts = services.AnnouncementFacts(**(audience | words | changes))
    version = Announcement.objects.values_list("version", flat=True).get(pk=row.pk)
    return services.change_draft(announcement=row, version=version, facts=facts, by=small.mara)


def test_a_draft_to_a_house_that_was_removed_reaches_nobody_after_its_text_is_changed(small: SmallNetwork) -> None:
    made = Site.objects.create(name="House C", code="C")
    row = announcement_factories.draft(small.mara, sites=[made], tariffs=small.tariffs[:1])
    made.delete()
    changed = change(row, small)
    assert (changed.title_en, changed.audience, changed.narrowed_by) == ("Not water", "House C; Student", ["sites", "tariffs"])
    assert list_reached(changed) == set()


def test_who_changes_an_audience_decides_on_what_was_removed_of_it(small: SmallNetwork) -> None:
    made = Site.objects.create(name="House C", code="C")
    row = announcement_factories.draft(small.mara, sites=[made], tariffs=small.tariffs[:1])
    made.delete()
    with pytest.raises(Problem, match="was removed") as refused:
        change(row, small, tariffs=small.tariffs[1:])
    assert refused.value.fieldname == "sites"
    assert change(row, small, sites=small.sites[:1]).audience == "House A; Student"
    Announcement.sites.through.objects.all().delete()
    assert change(row, small, dropped=["sites"]).audience == "Student"
    Announcement.tariffs.through.objects.all().delete()
    everybody = change(row, small, dropped=["tariffs"])
    assert (everybody.audience, everybody.narrowed_by, len(list_reached(everybody))) == ("", [], 24)


def test_an_audience_is_named_by_kinds(small: SmallNetwork) -> None:
    row = announcement_factories.draft(small.mara, sites=small.sites, tariffs=small.tariffs[:1])
    assert (row.audience, row.narrowed_by) == ("House A, House B; Student", ["sites", "tariffs"])
    assert announcement_factories.draft(small.mara).audience == ""


def test_a_preview_counts_readers_by_mail_and_language_and_names_some(small: SmallNetwork) -> None:
    first, second, third = (each.pk for each in small.neighbours[:3])
    Member.objects.update(email="")
    Member.objects.filter(pk=first).update(email="First@lindenhof.example", language="de")
    Member.objects.filter(pk=second).update(email="second@lindenhof.example")
    Member.objects.filter(pk=third).update(email="second@lindenhof.example")
    switch_notice_off(address="first@LINDENHOF.example", notice="announcements")
    found = preview_audience(announcement_factories.draft(small.mara))
    assert (found.members, found.by_mail, found.no_address, found.unwanted) == (24, 2, 21, 1)
    assert (found.languages, found.names[:2], found.more_names) == ({"de": 1, "en": 23}, ("Neighbour 0", "Neighbour 1"), 19)


def test_a_preview_of_more_members_asks_the_database_no_more(small: SmallNetwork) -> None:
    row = announcement_factories.draft(small.mara, pools=small.pools, sites=small.sites)
    with CaptureQueriesContext(connection) as captured:
        preview_audience(row)
    assert len(captured) == 2
