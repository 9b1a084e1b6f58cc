"""Search in texts that people wrote: purposes, devices, comments of bans, gateways, accounts, revisions.

Returns hits by kind, for `search.py`. The number of queries is constant; for fewer than MIN_LENGTH characters there is at most
one, for a revision.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db.models import Q, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.models import Ban
from apps.deployments.models import Revision
from apps.lib.database.unaccent import make_unaccented_expression
from apps.lib.ui import formats
from apps.members.selectors import search_devices
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.selectors import list_pinholes
from apps.nat.selectors import list_forwards
from apps.network.models import Gateway

MIN_LENGTH = 3
SHOWN = 10


@dataclass(frozen=True)
class SearchHit:
    """A search result: its name, a note beside it, its URL.

    certain: the text identifies it, so that it may be opened at once.
    """

    name: str
    note: str
    url: str
    code: bool = False  # shown in monospace
    certain: bool = True


@dataclass(frozen=True)
class SearchHitGroup:
    """The hits of one kind. `more`: URL of the others, if there are more than are shown."""

    title: str
    icon: str
    hits: list[SearchHit]
    more: str = ""


def search_names(text: str) -> Iterator[SearchHitGroup]:
    """Yield groups of objects with this text in their name, purpose or comment."""
    if len(text) < MIN_LENGTH:
        yield _search_revisions(text)
        return
    searches: tuple[Callable[[str], SearchHitGroup], ...] = (
        _search_devices,
        _search_purposes,
        _search_bans,
        _search_gateways,
        _search_revisions,
        _search_accounts,
    )
    yield from (search(text) for search in searches)


def _search_devices(text: str) -> SearchHitGroup:
    """Find devices by name, or by a part of the MAC address, whatever the separators."""
    found = search_devices(text).select_related("member").order_by("name", "pk")[:SHOWN]
    hits = [
        SearchHit(f"{each.name} {each.mac}", each.member.name, reverse("desk:member", args=[each.member_id]), certain=False)
        for each in found
    ]
    return SearchHitGroup(_("Devices"), "members", hits)


def _search_purposes(text: str) -> SearchHitGroup:
    """Find port forwards and pinholes by their purpose."""
    found = list_forwards().filter(purpose__icontains=text).order_by("pk")[:SHOWN]
    more = list_pinholes().filter(purpose__icontains=text).order_by("pk")[:SHOWN]
    rows: list[tuple[str, PortForward | Pinhole]] = [*(("forwards", each) for each in found), *(("pinholes", each) for each in more)]
    hits = [
        SearchHit(
            str(each),
            f"{each.holding.member} · {each.purpose}",
            f"{reverse('desk:member', args=[each.holding.member_id])}#{place}",
            certain=False,
        )
        for place, each in rows[:SHOWN]
    ]
    return SearchHitGroup(_("Open ports by purpose"), "nat", hits)


def _search_bans(text: str) -> SearchHitGroup:
    found = list(Ban.objects.filter(comment__icontains=text).select_related("list").order_by("pk")[: SHOWN + 1])
    hits = [
        SearchHit(
            str(ban.prefix),
            f"{ban.list} · {ban.comment}",
            f"{reverse('bans:list', args=[ban.list_id])}?{urlencode({'q': str(ban.prefix)})}",
            code=True,
            certain=False,
        )
        for ban in found[:SHOWN]
    ]
    more = f"{reverse('bans:list', args=[found[0].list_id])}?{urlencode({'q': text})}" if len(found) > SHOWN else ""
    return SearchHitGroup(_("Bans by comment"), "bans", hits, more)


def _search_gateways(text: str) -> SearchHitGroup:
    found = Gateway.objects.filter(name__icontains=text).select_related("group").order_by("name")[:SHOWN]
    return SearchHitGroup(
        _("Gateways"), "gateways", [SearchHit(each.name, str(each.group), reverse("gateways:gateway", args=[each.pk])) for each in found]
    )


def _search_revisions(text: str) -> SearchHitGroup:
    """Find a revision by its name, such as r4811."""
    digits = text.lower().removeprefix("r")
    is_one = text.lower().startswith("r") and digits.isascii() and digits.isdigit() and len(digits) < 10
    found = Revision.objects.filter(pk=int(digits)).select_related("group") if is_one else []
    hits = [
        SearchHit(str(each), f"{each.group} · {formats.format_full_time(each.created)}", reverse("deployments:revision", args=[each.pk]))
        for each in found
    ]
    return SearchHitGroup(_("Revisions"), "rollouts", hits)


def _search_accounts(text: str) -> SearchHitGroup:
    """Find staff accounts by user name, name with or without accents, or e-mail address."""
    people = User.objects.alias(bare_name=make_unaccented_expression(Concat("first_name", Value(" "), "last_name")))
    wanted = Q(username__icontains=text) | Q(bare_name__contains=make_unaccented_expression(Value(text))) | Q(email__icontains=text)
    found = people.filter(wanted, is_staff=True).order_by("username")[:SHOWN]
    hits = [SearchHit(each.name, each.get_username(), reverse("accounts:person", args=[each.pk]), certain=False) for each in found]
    return SearchHitGroup(_("Accounts"), "members", hits)
