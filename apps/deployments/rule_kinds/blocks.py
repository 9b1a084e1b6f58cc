"""Addresses and prefixes of blocked members. What waits for approval here is that they are added: a block takes service away."""

from ipaddress import ip_network

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.bans.blocks.services import unblock_members
from apps.bans.models import Ban, Block
from apps.bans.services import lift_bans
from apps.deployments.rule_kinds.event_sources import BAN, BAN_LIST
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
    parse_network,
    parse_row_ids,
)
from apps.deployments.rule_kinds.member_rows import HOLDINGS_CONDITION, HOLDINGS_SQL, build_holdings_condition_parameters
from apps.lib.database.validity import is_valid_now
from apps.members.models import Member
from apps.network.models import Holding
from firewall.policy import BlockedMemberSpec
from firewall.sets import ObjectKind


def _build_block(pk: int, prefix: str, expires: int) -> BlockedMemberSpec:
    return BlockedMemberSpec(pk, parse_network(prefix), expires)


def _build_thing(element: RemovedElement) -> AffectedThing:
    prefix = f"{element.address}/{element.length or '32'}"
    return AffectedThing(prefix.removesuffix("/32"), prefix, element.comment)  # a block's comment says which block it is


def _restore(thing: AffectedThing, by: User) -> None:
    """Lift the blocks of the members who hold the prefix; if that lifted none, lift the bans of exactly this prefix."""
    holders = Member.objects.filter(holdings__in=Holding.objects.filter(is_valid_now(), prefix=ip_network(thing.prefix)))
    if not unblock_members(members=holders, by=by):
        lift_bans(bans=list(Ban.objects.filter(prefix=ip_network(thing.prefix)).values_list("pk", flat=True)), by=by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    blocks = Block.objects.filter(pk__in=parse_row_ids(found, "block")).select_related("member")
    return [_build_origin(each) for each in blocks]


def _build_origin(block: Block) -> ElementOrigin:
    name, url = _("block of %(member)s") % {"member": block.member}, reverse("bans:block", args=[block.pk])
    return ElementOrigin("block", name, block.get_reason_display(), url, anonymous=_("block of a member"))


BLOCKS = RuleKind(
    kind=ObjectKind.BLOCKS,
    name=gettext_lazy("Blocked addresses"),
    count=lambda number: ngettext("%(n)s blocked address", "%(n)s blocked addresses", number),
    readers={
        "blocks": ObjectReader(
            HOLDINGS_SQL.format(
                columns="b.id, h.prefix, CASE WHEN upper_inf(b.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(b.valid)))::bigint END",
                join="JOIN bans_block b ON b.member_id = m.id",
                where="h.kind IN ('private4', 'prefix6') AND b.valid @> %(at)s::timestamptz",
                order="h.prefix",
            ),
            HOLDINGS_CONDITION,
            build_holdings_condition_parameters,
            _build_block,
        )
    },
    list_origins=_list_origins,
    timed=(TimedRows("member", "member_id::text", "bans_block"),),
    build_thing=_build_thing,
    row_keys={Block: lambda row: f"block {row.pk}", Ban: lambda row: str(row.prefix)},
    removal=RemovalDefinition(
        history="bans.block",
        label=lambda number: ngettext("address or prefix is cut off", "addresses and prefixes are cut off", number),
        sentence=lambda members: ngettext("%(n)s member loses access:", "%(n)s members lose access:", members),
        undo=gettext_lazy("lifts the blocks"),
        sources=(AuthorHistory("held", "bans_blockevent", "event.member_id = held.member"), BAN, BAN_LIST),
        restore=_restore,
        holding_operator="<<=",
    ),
)
