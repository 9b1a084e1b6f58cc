"""Addresses and prefixes of active members, with the holding of each."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.deployments.rule_kinds.event_sources import HOLDING, MEMBER
from apps.deployments.rule_kinds.kind import (
    AffectedThing,
    ChangeNoteFormat,
    ElementOrigin,
    ObjectReader,
    RemovalDefinition,
    RuleKind,
    SetElement,
    TimedRows,
)
from apps.deployments.rule_kinds.member_origins import list_address_holders
from apps.deployments.rule_kinds.member_rows import ADDRESSES_CONDITION, HOLDINGS_SQL, build_addresses_condition_parameters
from apps.deployments.rule_kinds.restoring import restore_holding
from apps.network.models import Holding
from firewall.policy import PrefixOwner
from firewall.sets import ObjectKind


def _parse_address(text: str) -> Iterator[IPv4Address]:
    network = ip_network(text)
    if isinstance(network, IPv4Network):
        yield network.network_address


def _parse_prefix(text: str) -> Iterator[IPv6Network]:
    network = ip_network(text)
    if isinstance(network, IPv6Network):
        yield network


def _restore(thing: AffectedThing, by: User) -> None:
    restore_holding(thing.prefix, by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the holder of the address, or of the prefix that begins with it."""
    return list_address_holders(found.address, found.at)


ADDRESSES = RuleKind(
    kind=ObjectKind.ADDRESSES,
    name=gettext_lazy("Addresses"),
    count=lambda number: ngettext("%(n)s address", "%(n)s addresses", number),
    readers={
        "addresses": ObjectReader(
            HOLDINGS_SQL.format(columns="h.prefix - '0.0.0.0'::inet, h.id", join="", where="h.kind = 'private4'", order="h.prefix"),
            ADDRESSES_CONDITION,
            build_addresses_condition_parameters,
            lambda number, holding: PrefixOwner(IPv4Address(number), holding),
        )
    },
    list_origins=_list_origins,
    notes=(ChangeNoteFormat("address", "addresses", _parse_address),),
    timed=(TimedRows("holding", "id::text", "network_holding", stays=True),),
    row_keys={Holding: lambda row: str(row.prefix) if row.prefix.version == 4 else ""},
    removal=RemovalDefinition(
        history="network.holding",
        label=lambda number: ngettext("address loses access", "addresses lose access", number),
        sentence=lambda members: ngettext("%(n)s member loses access:", "%(n)s members lose access:", members),
        undo=gettext_lazy("gives the members their addresses back, and makes them active again"),
        sources=(HOLDING, MEMBER),
        restore=_restore,
    ),
)
PREFIXES = RuleKind(
    kind=ObjectKind.PREFIXES,
    name=gettext_lazy("IPv6 prefixes"),
    count=lambda number: ngettext("%(n)s IPv6 prefix", "%(n)s IPv6 prefixes", number),
    readers={
        "prefixes": ObjectReader(
            HOLDINGS_SQL.format(columns="h.prefix, h.id", join="", where="h.kind = 'prefix6'", order="h.prefix"),
            "AND h.prefix = ANY(%(prefixes)s::cidr[])",
            lambda touched: {"prefixes": [str(prefix) for prefix in touched.prefixes]},
            lambda prefix, holding: PrefixOwner(IPv6Network(prefix), holding),
        )
    },
    list_origins=_list_origins,
    notes=(ChangeNoteFormat("address", "prefixes", _parse_prefix),),
    row_keys={Holding: lambda row: str(row.prefix) if row.prefix.version == 6 else ""},
    removal=RemovalDefinition(
        history="network.holding",
        label=lambda number: ngettext("prefix loses access", "prefixes lose access", number),
        sentence=lambda members: ngettext("%(n)s member loses IPv6:", "%(n)s members lose IPv6:", members),
        undo=gettext_lazy("gives the members their prefixes back, and makes them active again"),
        sources=(HOLDING, MEMBER),
        restore=_restore,
    ),
)
