"""NAT mappings of active members."""

from ipaddress import IPv4Address, ip_address, ip_network

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.deployments.rule_kinds.event_sources import HOLDING, MEMBER
from apps.deployments.rule_kinds.kind import (
    AffectedThing,
    AuthorHistory,
    ElementOrigin,
    ObjectReader,
    RemovalDefinition,
    RemovedElement,
    RuleKind,
    SetElement,
    TimedRows,
)
from apps.deployments.rule_kinds.member_origins import list_probe_origins
from apps.deployments.rule_kinds.member_rows import ADDRESSES_CONDITION, HOLDINGS_SQL, build_addresses_condition_parameters
from apps.deployments.rule_kinds.restoring import restore_holding
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Address
from apps.nat.models import NatMapping
from apps.nat.services import map_address
from firewall.addresses import format_ipv4
from firewall.policy import NatMappingSpec, SharingMode
from firewall.sets import ObjectKind

_BLOCK = "coalesce(lower(n.block), 0), coalesce(upper(n.block), 1) - 1"


def _build_mapping(private: int, public: int, sharing: str, first: int, last: int) -> NatMappingSpec:
    return NatMappingSpec(IPv4Address(private), IPv4Address(public), SharingMode(sharing), first, last)


def _build_thing(element: RemovedElement) -> AffectedThing:
    private, public = f"{format_ipv4(element.key)}/32", format_ipv4(element.value[:4])
    return AffectedThing(f"{format_ipv4(element.key)} → {public}{_render_block_ports(element.value)}", private, private, public)


def _render_block_ports(value: bytes) -> str:
    """Return “, ports 1024–2047” if a mapping's value has ports, else ""."""
    if len(value) == 4:
        return ""
    return _(", ports %(first)d–%(last)d") % {"first": int.from_bytes(value[4:6]), "last": int.from_bytes(value[12:14])}


def _build_row_key(row: NatMapping) -> str:
    return str(row.holding.prefix) if NatMapping._meta.get_field("holding").is_cached(row) else ""


def _restore(thing: AffectedThing, by: User) -> None:
    holding = restore_holding(thing.prefix, by)
    if not NatMapping.objects.filter(is_valid_now(), holding=holding).exists():
        map_address(holding=holding, public=ip_address(thing.public), by=by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    private = found.address
    mappings = NatMapping.objects.filter(holding__prefix=ip_network(private), valid__contains=found.at).select_related("holding__member")
    return [_build_origin(private, each) for each in mappings] or list_probe_origins(private)


def _build_origin(private: Address, mapping: NatMapping) -> ElementOrigin:
    public = f"{mapping.public}:{mapping.ports}" if mapping.ports else mapping.public
    note = _("%(private)s leaves as %(public)s") % {"private": private, "public": public}
    member = mapping.holding.member
    return ElementOrigin("mapping", str(member), note, reverse("desk:member", args=[member.pk]), anonymous=_("a member"))


MAPPINGS = RuleKind(
    kind=ObjectKind.MAPPINGS,
    name=gettext_lazy("NAT mappings"),
    count=lambda number: ngettext("%(n)s NAT mapping", "%(n)s NAT mappings", number),
    readers={
        "mappings": ObjectReader(
            HOLDINGS_SQL.format(
                columns="h.prefix - '0.0.0.0'::inet, n.public - '0.0.0.0'::inet, n.sharing, " + _BLOCK,
                join="JOIN nat_natmapping n ON n.holding_id = h.id",
                where="h.kind = 'private4' AND n.valid @> %(at)s::timestamptz",
                order="h.prefix",
            ),
            ADDRESSES_CONDITION,
            build_addresses_condition_parameters,
            _build_mapping,
        )
    },
    list_origins=_list_origins,
    timed=(TimedRows("holding", "holding_id::text", "nat_natmapping", stays=True),),
    build_thing=_build_thing,
    row_keys={NatMapping: _build_row_key},
    removal=RemovalDefinition(
        history="nat.natmapping",
        label=lambda number: ngettext("NAT mapping ends", "NAT mappings end", number),
        sentence=lambda members: ngettext("%(n)s member loses the public address:", "%(n)s members lose their public address:", members),
        undo=gettext_lazy("gives the members their public addresses back"),
        sources=(HOLDING, MEMBER, AuthorHistory("held", "nat_natmappingevent", "event.holding_id = held.holding")),
        restore=_restore,
    ),
)
