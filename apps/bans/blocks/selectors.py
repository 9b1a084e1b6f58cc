"""Read access to blocks, their impact, and the holders of addresses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DateTimeField, F, Func, Prefetch, Q, QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from apps.audit.trail import EndedRow
from apps.bans.blocks.models import Block, Notice
from apps.lib import dependents
from apps.lib.database.validity import is_valid_now
from apps.lib.dependents import EndedCount
from apps.lib.fields import Address
from apps.lib.web.cached_rows import cache_rows
from apps.lib.web.frame_reads import read_with_frame
from apps.members.models import Member
from apps.network.models import Gateway, GatewayGroup, Holding

STATES = ("now", "over", "all")


def find_current_block(member: Member) -> Block | None:
    """Return the member's block that is in force, if there is one."""
    return next(iter(list_current_blocks(member)), None)


@cache_rows
def list_current_blocks(member: Member) -> QuerySet[Block]:
    """Return the member's block that is in force, or no row. Read once for all parts of a page."""
    return Block.objects.filter(is_valid_now(), member=member).select_related("author")[:1]


def list_blocks(state: str = "now", search: str = "", reason: str = "") -> QuerySet[Block]:
    """Return blocks that are in force, over, or all; the newest first.

    search: a part of the member's name or of the texts, or the member's number.
    """
    found = Block.objects.select_related("member", "author", "lifted_by").order_by("-id")
    found = found.filter(is_valid_now()) if state == "now" else found.exclude(is_valid_now()) if state == "over" else found
    if reason:
        found = found.filter(reason=reason)
    text = search.strip().replace("\0", "")
    number = text.upper().removeprefix("M-")
    if not text:
        return found
    named = Q(member__name__icontains=text) | Q(message__icontains=text) | Q(note__icontains=text)
    return found.filter(named | Q(member__number=int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else named)


def count_blocked_members() -> int:
    """Return how many members are blocked now."""
    return sum(number for _reason, number in _count_by_reason())


@read_with_frame
def _count_by_reason() -> QuerySet[Block, tuple[str, int]]:
    return Block.objects.filter(is_valid_now()).order_by().values_list("reason").annotate(Count("pk"))


def list_blocked_member_ids() -> QuerySet[Block, int]:
    """Return the ids of the members who are blocked now."""
    return Block.objects.filter(is_valid_now()).order_by().values_list("member", flat=True)


def filter_blockable(members: QuerySet[Member]) -> QuerySet[Member]:
    """Return those of the members who can be blocked: neither blocked already nor gone."""
    return members.exclude(state=Member.State.LEFT).exclude(pk__in=list_blocked_member_ids())


def list_blocks_ending_within(hours: int) -> QuerySet[Block]:
    """Return the blocks that end by themselves within so many hours, the next first."""
    ends = Func(F("valid"), function="upper", output_field=DateTimeField())
    return Block.objects.filter(is_valid_now()).annotate(ends=ends).filter(ends__lt=Now() + timedelta(hours=hours)).order_by("ends")


@read_with_frame
def list_next_ending() -> QuerySet[Block]:
    """Return the block that ends next by itself, if one does within a day. Read once for a page."""
    return list_blocks_ending_within(24)[:1]


def find_holder(address: Address) -> Member | None:
    """Return the member who holds the address now, alone or within a prefix."""
    held = Holding.objects.filter(is_valid_now(), prefix__covers=address).select_related("member").first()
    return held.member if held else None


def find_notice_for_address(address: Address) -> Notice | None:
    """Return the notice of the group to which the address belongs; for an unknown address the first notice that exists."""
    held = Holding.objects.filter(is_valid_now(), prefix__covers=address).first()
    notices = Notice.objects.filter(group=held.group_id) if held else Notice.objects.all()
    return notices.first()


@dataclass(frozen=True, slots=True)
class BlockImpact:
    """Effect of a block: the member's addresses, and what depends on them."""

    addresses: list[str]
    hanging: list[EndedCount]


def get_block_impact(member: Member) -> BlockImpact:
    """Return what a block of this member cuts off, or would cut off."""
    held = list(Holding.objects.filter(is_valid_now(), member=member).order_by("kind", "prefix"))
    return BlockImpact([holding.address for holding in held], dependents.count_dependents(Holding, [holding.pk for holding in held]))


def find_end_before_lifting(lifted: Block) -> datetime | None:
    """Return when the block would have ended without being lifted, from its history; None: never."""
    events: Any = lifted.events  # type: ignore[attr-defined]  # the history tracker makes this attribute
    before = events.filter(lifted_by=None).order_by("-pgh_id").first()
    end: datetime | None = before.valid.upper if before else None
    return end


def iter_notices() -> Iterable[tuple[GatewayGroup, Notice | None, list[str]]]:
    """Yield each group with its notice, and with the names of its gateways that have no interface for servers."""
    gateways = Gateway.objects.select_related("server_interface").order_by("name")
    for group in GatewayGroup.objects.select_related("notice").prefetch_related(Prefetch("gateways", gateways)).order_by("name"):
        without = [each.name for each in group.gateways.all() if not hasattr(each, "server_interface")]
        yield group, getattr(group, "notice", None), without


def map_restore_urls(ended: Sequence[EndedRow]) -> Mapping[int, str]:
    """Return the URLs whose POST makes a lifted block again, by the block's id; only for members who can be blocked now."""
    free = filter_blockable(Member.objects.filter(pk__in={each.row.member_id for each in ended}))
    lifted = Block.objects.filter(pk__in={each.row.pk for each in ended}, member__in=free.values("pk")).values_list("pk", flat=True)
    return {pk: reverse("bans:block-restore", args=[pk]) for pk in lifted}
