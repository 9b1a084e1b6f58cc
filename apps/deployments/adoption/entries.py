"""How a person enters an object that only a gateway has: the page, and the request to the REST API. Reads rows, writes none.

Elements do not tell everything: not what a forward is for, nor why a member was blocked. Such fields are left to the person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.bans.listeners.models import Listener
from apps.deployments.adoption.known_rows import KnownRows
from apps.deployments.adoption.words import convert_end, describe_object, format_held
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Address, Prefix
from apps.members.models import Member
from apps.nat.models import Pinhole, PortForward
from apps.nat.selectors import build_ports_filter
from apps.network.models import Holding
from firewall.policy import (
    AllowEntrySpec,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    NatMappingSpec,
    PinholeSpec,
    PrefixOwner,
    RateLimitSpec,
    ServerListenerSpec,
)
from firewall.running_objects import RunningObject

OCTETS_OF_KBIT = 125


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to the REST API. A field of the body that is None is for the person to fill in."""

    method: str
    path: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ManualEntry:
    """How an object is entered. page: path of the page; request: None if something else comes first; advice: what to know or do first."""

    page: str
    request: ApiRequest | None = None
    advice: str = ""
    holder: str = field(default="", kw_only=True)  # the member whose object it is, as text


def build_entry(each: RunningObject, rows: KnownRows) -> ManualEntry:
    """Return how the object is entered, of which the database has nothing."""
    match each.spec:
        case BanSpec() as ban:
            return _enter_ban(ban, rows)
        case AllowEntrySpec() as entry:
            body = {"prefix": str(entry.prefix), "comment": entry.comment, **_build_until(entry.expires)}
            return ManualEntry(reverse("bans:allowed"), ApiRequest("POST", reverse("api:allowentry-list"), body))
        case ServerListenerSpec() as listener:
            return _enter_listener(listener, rows)
        case PrefixOwner() as owner:
            return _enter_address(owner, rows)
        case ForwardSpec(private=held) | NatMappingSpec(private=held):
            return _enter_for_holder(each, held, rows)
        case PinholeSpec(hole=hole):
            return _enter_for_holder(each, hole.address, rows)
    return _enter_for_holder(each, each.spec.prefix, rows)


def build_change(each: RunningObject, rows: KnownRows) -> ManualEntry:
    """Return where an object is changed that the database has in another way. There is no request: a person decides which is right."""
    entry = build_entry(each, rows)
    advice = _("On the gateway it belongs to somebody else, whom the database does not know.")
    is_strangers = isinstance(each.spec, PrefixOwner) and not entry.holder
    return ManualEntry(entry.page, advice=advice if is_strangers else "", holder=entry.holder)


def describe_database(each: RunningObject, rows: KnownRows) -> str:
    """Return what the database has, in words; of an address, with the name of its member."""
    words = describe_object(each)
    holding = rows.find_holding(each.spec.prefix) if isinstance(each.spec, PrefixOwner) else None
    return _("%(object)s of %(member)s") % {"object": words, "member": holding.member} if holding else words


def _build_until(expires: int) -> dict[str, str]:
    at = convert_end(expires)
    return {"until": at.isoformat()} if at else {}


# --- Objects of the network


def _enter_ban(ban: BanSpec, rows: KnownRows) -> ManualEntry:
    into = rows.ban_list
    body = {"list": into and into.pk, "prefix": str(ban.prefix), "direction": ban.direction.value, "comment": ban.comment}
    page = reverse("bans:list", args=[into.pk]) if into else reverse("bans:lists")
    advice = _("It may have been on another list. What a feed names comes back with the feed.")
    return ManualEntry(page, ApiRequest("POST", reverse("api:ban-list"), body | _build_until(ban.expires)), advice)


def _enter_listener(listener: ServerListenerSpec, rows: KnownRows) -> ManualEntry:
    place = {"address": str(listener.address), "protocol": listener.protocol.value, "port": listener.port}
    page = reverse("bans:listeners")
    if there := Listener.objects.filter(**place, enabled=False).first():
        return _switch_on(reverse("bans:listener", args=[there.pk]), reverse("api:listener-detail", args=[there.pk]))
    guard = {"guarded": True, "window_scale": listener.window_scale} if listener.window_scale is not None else {}
    body = {"group": rows.group.pk, "name": listener.name or None, **place, **guard}
    return ManualEntry(page, ApiRequest("POST", reverse("api:listener-list"), body))


def _switch_on(page: str, path: str, holder: str = "") -> ManualEntry:
    return ManualEntry(page, ApiRequest("PATCH", path, {"enabled": True}), _("It is switched off in the database."), holder=holder)


# --- Objects of members


def _enter_address(owner: PrefixOwner, rows: KnownRows) -> ManualEntry:
    """Enter an address. The database may know the assignment that it counts for: as over, or of a member who is not active there."""
    before = rows.find_holding_by_id(owner.holding)
    if before and before.member.state != Member.State.ACTIVE:
        return _activate(before.member)
    pool = rows.find_pool(owner.prefix)
    body = {"member": before and before.member_id, "pool": pool and pool.pk, "address": format_held(owner.prefix)}
    page = reverse("desk:member", args=[before.member_id]) if before else reverse("desk:members")
    advice = "" if before else _("The database does not know its member: look in your own records, and add who is missing.")
    return ManualEntry(page, ApiRequest("POST", reverse("api:address-list"), body), advice, holder=str(before.member) if before else "")


def _activate(member: Member) -> ManualEntry:
    page = reverse("desk:member", args=[member.pk])
    return ManualEntry(page, advice=_("Its member is not active in the database: activate the member."), holder=str(member))


def _enter_for_holder(each: RunningObject, held: Address | Prefix, rows: KnownRows) -> ManualEntry:
    holding = rows.find_holding(held)
    if holding is None:
        advice = _("Nobody holds %(address)s in the database: assign it first, then list again.") % {"address": format_held(held)}
        return ManualEntry(reverse("desk:members"), advice=advice)
    if holding.member.state != Member.State.ACTIVE:
        return _activate(holding.member)
    return _enter_for_member(each, holding, rows)


def _enter_for_member(each: RunningObject, holding: Holding, rows: KnownRows) -> ManualEntry:
    match each.spec:
        case ForwardSpec() as forward:
            return _enter_forward(forward, holding)
        case PinholeSpec() as pinhole:
            return _enter_pinhole(pinhole, holding)
        case NatMappingSpec() as mapping:
            body = {"holding": holding.pk, "public_address": str(mapping.public)}
            advice = _("The portal chooses the ports.") if mapping.first_port else ""
            return _enter_at(_get_member_page(holding), "mapping", body, holding, advice)
        case BlockedMemberSpec() as block:
            body = {"member": holding.member_id, "reason": None, **_build_until(block.expires)}
            return _enter_at(reverse("bans:block-member", args=[holding.member_id]), "block", body, holding)
        case RateLimitSpec() as limit if each.is_tariff:
            return _enter_tariff(limit, holding, rows)
        case RateLimitSpec() as limit:
            rates = {"up_kbit": limit.up // OCTETS_OF_KBIT or None, "down_kbit": limit.down // OCTETS_OF_KBIT or None}
            known = {name: rate for name, rate in rates.items() if rate}
            body = {"member": holding.member_id, **known, "reason": None, **_build_until(limit.expires)}
            return _enter_at(_get_member_page(holding), "ratelimit", body, holding)
    raise TypeError(f"{each.kind} belongs to no member")


def _enter_at(page: str, collection: str, body: Mapping[str, Any], holding: Holding, advice: str = "") -> ManualEntry:
    request = ApiRequest("POST", reverse(f"api:{collection}-list"), body)
    return ManualEntry(page, request, advice, holder=str(holding.member))


def _get_member_page(holding: Holding, part: str = "") -> str:
    return reverse("desk:member", args=[holding.member_id]) + part


def _enter_forward(forward: ForwardSpec, holding: Holding) -> ManualEntry:
    page = _get_member_page(holding, "#forwards")
    public = {"public": forward.public, "protocol": forward.protocol.value}
    last = forward.public_port + forward.ports - 1
    same = PortForward.objects.filter(
        is_valid_now(), build_ports_filter(forward.public_port, last), **public, holding=holding, enabled=False
    )
    if there := same.first():
        return _switch_on(page, reverse("api:forward-detail", args=[there.pk]), str(holding.member))
    body = {
        "holding": holding.pk,
        "public_address": str(forward.public),
        "protocol": forward.protocol.value,
        "public_port": forward.public_port,
        "private_port": forward.private_port,
        "ports": forward.ports,
    }
    return _enter_at(page, "forward", body, holding)


def _enter_pinhole(pinhole: PinholeSpec, holding: Holding) -> ManualEntry:
    page, hole = _get_member_page(holding, "#pinholes"), pinhole.hole
    protocol = hole.protocol.value if hole.protocol else Pinhole.Protocol.ALL.value
    same = Pinhole.objects.filter(is_valid_now(), holding=holding, address=hole.address, protocol=protocol, enabled=False)
    there = same.filter(port__lte=hole.port).order_by("-port").first()
    if there and hole.port < there.port + there.ports:
        return _switch_on(page, reverse("api:pinhole-detail", args=[there.pk]), str(holding.member))
    ports = {"port": hole.port, "ports": hole.ports} if hole.port else {}
    return _enter_at(page, "pinhole", {"holding": holding.pk, "address": str(hole.address), "protocol": protocol, **ports}, holding)


def _enter_tariff(limit: RateLimitSpec, holding: Holding, rows: KnownRows) -> ManualEntry:
    tariff, page = rows.tariffs.get(limit.id), reverse("desk:member-edit", args=[holding.member_id])
    rates = (limit.up // OCTETS_OF_KBIT or None, limit.down // OCTETS_OF_KBIT or None)
    if tariff is None or (tariff.up_kbit, tariff.down_kbit) != rates:
        advice = _("No tariff in the database gives this rate: add the tariff, or change it, then list again.")
        return ManualEntry(reverse("members:tariffs"), advice=advice, holder=str(holding.member))
    request = ApiRequest("PATCH", reverse("api:member-detail", args=[holding.member_id]), {"tariff": tariff.pk})
    return ManualEntry(page, request, _("The tariff is “%(tariff)s”.") % {"tariff": tariff}, holder=str(holding.member))
