"""Needs that follow from bans: members who are blocked, feeds that fail or are held back, groups in flood mode."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.blocks.selectors import count_blocked_members, list_next_ending
from apps.bans.models import BanFeed
from apps.desk.needs.need import AttentionItem
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.lib.web.frame_reads import read_with_frame
from apps.network.models import GatewayGroup


def iter_block_needs() -> Iterator[AttentionItem]:
    """Yield the number of blocked members, with the time at which the next block ends."""
    number = count_blocked_members()
    if number:
        ending = next(iter(list_next_ending()), None)
        said = _("the next one ends by itself") if ending else _("none of them ends by itself within 24 h")
        yield AttentionItem(
            "blocks",
            StateLabel(StateKind.PLAIN, _("Blocked"), "blocked"),
            ngettext("%(n)s member is blocked", "%(n)s members are blocked", number) % {"n": formats.format_number(number)},
            said,
            ending.valid.upper if ending else None,
            _("Review"),
            resolve_url("bans:blocks"),
        )


@read_with_frame
def _list_stuck_feeds() -> QuerySet[BanFeed]:
    stuck = BanFeed.objects.filter(Q(error_since__isnull=False) | Q(held_since__isnull=False))
    return stuck.defer("held").select_related("list").order_by("list__name")


def iter_feed_needs() -> Iterator[AttentionItem]:
    """Yield feeds that fail, and feeds with bans held back."""
    for feed in _list_stuck_feeds():
        page = f"{resolve_url('bans:list', feed.list_id)}#feed"
        if feed.held_since:
            given = {"list": feed.list, "n": formats.format_number(feed.held_removed), "of": formats.format_number(feed.held_of)}
            words = _("The feed of “%(list)s” would lift %(n)s of %(of)s bans") % given
            yield AttentionItem(
                f"feed-held-{feed.pk}", StateLabel(StateKind.WAIT, _("Held back")), words, feed.source, feed.held_since, _("Review"), page
            )
        if feed.error_since:
            words = _("“%(list)s” is not refreshed") % {"list": feed.list}
            yield AttentionItem(
                f"feed-{feed.pk}", StateLabel(StateKind.WARN, _("Feed")), words, feed.error_text, feed.error_since, _("Open"), page
            )


@read_with_frame
def _list_flooded() -> QuerySet[GatewayGroup]:
    return GatewayGroup.objects.filter(flood_mode=True)


def iter_flood_needs() -> Iterator[AttentionItem]:
    """Yield groups in flood mode, and what that costs."""
    for group in _list_flooded():
        words = _("%(group)s is in flood mode") % {"group": group}
        costs = _("every packet from outside is checked against the bans")
        yield AttentionItem(
            f"flood-{group.pk}",
            StateLabel(StateKind.WARN, _("Flood mode")),
            words,
            costs,
            None,
            _("Open"),
            resolve_url("gateways:group", group.pk),
            is_intended=True,
        )
