"""The search of the top bar: everything that a short text may mean, grouped by kind.

The text may be a name, a room, an M-number, a MAC address, an address, `address:port`, a port, a ban's prefix. The number of
queries is constant.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.coverage import list_covering_allow_entries
from apps.bans.listeners.selectors import list_listeners
from apps.bans.models import AllowEntry, Ban
from apps.bans.selectors import list_covering_bans, search_bans
from apps.desk.selectors.search_words import SHOWN, SearchHit, SearchHitGroup, search_names
from apps.lib.fields import Address, Prefix
from apps.lib.ui import formats
from apps.members.models import Member
from apps.members.selectors import search_members as find_members
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.selectors import list_pinholes_in, list_pinholes_on_port
from apps.nat.selectors import list_forwards_on_port, list_leaving_as
from apps.network.models import Pool
from apps.network.selectors import list_address_holdings
from apps.tickets.selectors import list_ticket_with_number, search_tickets
from firewall.addresses import parse_prefix

_WITH_PORT = re.compile(r"(?:\[([0-9a-fA-F:.%]+)\]|([0-9.]+))(?::|\s+)([0-9]{1,5})")
_PROTOCOL = re.compile(r"(?:tcp|udp)[\s/]+(?=[0-9])", re.IGNORECASE)
_TICKET = re.compile(r"ticket\s+#?(?=[0-9]+$)", re.IGNORECASE)
_START_OF_ADDRESS = re.compile(r"(?:[0-9]{1,3}\.){1,3}[0-9]{0,3}")


@dataclass(frozen=True)
class SearchText:
    """The possible meanings of a text."""

    text: str
    address: Address | None = None
    prefix: Prefix | None = None
    port: int | None = None


def parse_search(text: str) -> SearchText:
    """Parse `[2001:db8::7]:443`, `198.51.100.7:8443` (or with a blank), `203.0.113.0/24`, `10.16.0`, `8443`, `tcp 8443`."""
    text = _TICKET.sub("#", _PROTOCOL.sub("", text.strip(), count=1))
    with_port = _WITH_PORT.fullmatch(text)
    address = _parse_address(with_port[1] or with_port[2] if with_port else text)
    digits = with_port[3] if with_port else text
    port = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 and 0 < int(digits) < 65536 else None
    return SearchText(text, address, None if address else _parse_prefix(text), port)


def search_everything(text: str) -> list[SearchHitGroup]:
    """Return everything that the text may mean, without empty groups."""
    asked = parse_search(text)
    if not asked.text:
        return []
    return [
        group
        for group in (
            _search_members(asked),
            _search_tickets(asked),
            *_search_addresses(asked),
            _search_forwards(asked),
            _search_pinholes(asked),
            _search_bans(asked),
            _search_listeners(asked),
            _search_pools(asked),
            *([] if asked.address or asked.prefix else search_names(asked.text)),
        )
        if group.hits
    ]


def find_only_url(groups: Sequence[SearchHitGroup]) -> str:
    """Return the URL of the only hit; "" if there is none or several, or only a word matched."""
    hits = [hit for group in groups for hit in group.hits]
    urls = {hit.url for hit in hits}
    return urls.pop() if len(urls) == 1 and any(hit.certain for hit in hits) else ""


def _search_members(asked: SearchText) -> SearchHitGroup:
    text = str(asked.address or asked.prefix or asked.text)
    found = list(find_members(Member.objects.select_related("room__site", "tariff"), text).order_by("name", "id")[: SHOWN + 1])
    more = f"{reverse('desk:members')}?{urlencode({'q': text})}" if len(found) > SHOWN else ""
    return SearchHitGroup(_("Members"), "members", [_build_member_hit(member, asked) for member in found[:SHOWN]], more)


def _build_member_hit(member: Member, asked: SearchText) -> SearchHit:
    holds = _("holds %(address)s") % {"address": asked.address} if asked.address else ""
    facts = (f"M-{member.number}", str(member.room or ""), member.get_state_display(), holds)
    return SearchHit(member.name, " · ".join(filter(None, facts)), reverse("desk:member", args=[member.pk]))


def _search_tickets(asked: SearchText) -> SearchHitGroup:
    """Find the ticket with the number `#1203`, else the newest tickets with these words."""
    found = list_ticket_with_number(asked.text) if asked.address or asked.prefix or asked.port else search_tickets(asked.text, SHOWN + 1)
    hits = [
        SearchHit(
            f"#{each.pk} {each.subject}",
            f"{each.member or each.address} · {each.get_state_display()}",
            reverse("tickets:ticket", args=[each.pk]),
            certain=asked.text.lstrip("#").isdigit(),
        )
        for each in found[:SHOWN]
    ]
    more = f"{reverse('tickets:list')}?{urlencode({'q': asked.text})}" if len(found) > SHOWN else ""
    return SearchHitGroup(_("Tickets"), "tickets", hits, more)


def _search_addresses(asked: SearchText) -> Iterator[SearchHitGroup]:
    """Yield members who leave as the address, and a link to the lookup of who had it."""
    if asked.address is None:
        return
    leaving = list(list_leaving_as(asked.address, asked.port)[: SHOWN + 1])
    hits = [
        SearchHit(str(each.holding.member), _describe_source(each.holding.address), reverse("desk:member", args=[each.holding.member_id]))
        for each in leaving
    ]
    question = {"address": str(asked.address)} | ({"port": str(asked.port)} if asked.port else {})
    held = f"{reverse('network:held')}?{urlencode(question)}"
    yield SearchHitGroup(_("Members with this public address"), "nat", hits[:SHOWN], held if len(leaving) > SHOWN else "")
    number = list_address_holdings(asked.address).count()
    words = (
        ngettext("held by %(n)s member so far", "held by %(n)s members so far", number) if number else _("which member used it, and when")
    )
    words = words % {"n": formats.format_number(number)} if number else words
    yield SearchHitGroup(_("Who had it?"), "history", [SearchHit(str(asked.address), words, held, code=True)] if number or leaving else [])


def _describe_source(address: str) -> str:
    return _("from %(address)s") % {"address": address}


def _search_listeners(asked: SearchText) -> SearchHitGroup:
    """Find the network's servers by name, address or port."""
    found = list(list_listeners(str(asked.address or asked.text))[: SHOWN + 1])
    hits = [
        SearchHit(each.name, f"{each.get_protocol_display()} {each.port} · {each.address}", reverse("bans:listener", args=[each.pk]))
        for each in found
    ]
    return SearchHitGroup(_("Listeners"), "listeners", hits[:SHOWN], reverse("bans:listeners") if len(hits) > SHOWN else "")


def _search_forwards(asked: SearchText) -> SearchHitGroup:
    if asked.port is None:
        return SearchHitGroup("", "", [])
    found = list_forwards_on_port(asked.port, asked.address)
    first = list(found.select_related(None).order_by("public", "protocol").values_list("pk", flat=True)[:SHOWN])
    return SearchHitGroup(
        _("Port forwards"), "nat", [_build_forward_hit(forward) for forward in found.filter(pk__in=first).order_by("public", "protocol")]
    )


def _build_forward_hit(forward: PortForward) -> SearchHit:
    leads = formats.format_address(forward.holding.address, forward.private_ports)
    facts = (_("to %(address)s") % {"address": leads}, str(forward.holding.member), forward.purpose, "" if forward.enabled else _("off"))
    return SearchHit(str(forward), " · ".join(filter(None, facts)), f"{reverse('desk:member', args=[forward.holding.member_id])}#forwards")


def _search_pinholes(asked: SearchText) -> SearchHitGroup:
    """Find pinholes of the address or prefix, or on the port; `[2001:db8::7]:443` finds those that let in this port."""
    where = ip_network(asked.address) if asked.address else asked.prefix
    if where and where.version == 6:
        found = list_pinholes_in(where, asked.port)
    elif asked.port and not asked.address:
        found = list_pinholes_on_port(asked.port)
    else:
        return SearchHitGroup("", "", [])
    return SearchHitGroup(_("IPv6 pinholes"), "nat", [_build_pinhole_hit(each) for each in found[:SHOWN]])


def _build_pinhole_hit(pinhole: Pinhole) -> SearchHit:
    facts = (str(pinhole.holding.member), pinhole.purpose, "" if pinhole.enabled else _("off"))
    return SearchHit(str(pinhole), " · ".join(filter(None, facts)), f"{reverse('desk:member', args=[pinhole.holding.member_id])}#pinholes")


def _search_bans(asked: SearchText) -> SearchHitGroup:
    """Find bans that cover the address, or bans on, around or in the prefix, and allow entries."""
    if asked.address:
        found: list[Ban] = list(list_covering_bans(ip_network(asked.address))[:SHOWN])
    elif asked.prefix:
        found = list(search_bans(Ban.objects.select_related("list"), str(asked.prefix)).order_by("prefix", "id")[:SHOWN])
    else:
        found = []
    hits = [SearchHit(str(ban.prefix), f"{ban.list} · {ban.comment}".rstrip(" ·"), _build_ban_url(ban), code=True) for ban in found]
    asked_for = asked.prefix or (ip_network(asked.address) if asked.address else None)
    allowed = [_build_allow_hit(entry) for entry in list_covering_allow_entries(asked_for)[:SHOWN]] if asked_for else []
    return SearchHitGroup(_("Bans"), "bans", [*allowed, *hits], f"{reverse('bans:covering')}?{urlencode({'address': asked.text})}")


def _build_allow_hit(entry: AllowEntry) -> SearchHit:
    words = " · ".join(filter(None, [_("on the allow list"), entry.comment]))
    return SearchHit(str(entry.prefix), words, reverse("bans:allow_entry", args=[entry.pk]), code=True)


def _build_ban_url(ban: Ban) -> str:
    return f"{reverse('bans:list', args=[ban.list_id])}?{urlencode({'q': str(ban.prefix)})}"


def _search_pools(asked: SearchText) -> SearchHitGroup:
    wanted = asked.address or asked.prefix
    found = Pool.objects.filter(prefix__overlaps=wanted).select_related("group")[:SHOWN] if wanted else []
    return SearchHitGroup(
        _("Pools"), "addresses", [SearchHit(str(pool), pool.get_kind_display(), reverse("network:pool", args=[pool.pk])) for pool in found]
    )


def _parse_address(text: str) -> Address | None:
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def _parse_prefix(text: str) -> Prefix | None:
    try:
        return parse_prefix(_complete_prefix(text), strict=False) if "/" in text or _START_OF_ADDRESS.fullmatch(text) else None
    except ValueError:
        return None


def _complete_prefix(text: str) -> str:
    """Return the prefix that the beginning of an IPv4 address means: 10.16.0 is 10.16.0.0/24."""
    parts = [] if "/" in text else text.strip(".").split(".")
    return ".".join([*parts, *["0"] * (4 - len(parts))]) + f"/{8 * len(parts)}" if parts else text
