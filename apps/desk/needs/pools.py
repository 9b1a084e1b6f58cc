"""Needs of pools that are nearly used up: addresses and prefixes of members, and blocks of ports of public addresses."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.needs.need import AttentionItem
from apps.desk.result_cache import count_assigned_shares, get_cached
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.nat.pool_usage import BlockUsage, list_block_usages
from apps.network.models import Pool
from apps.network.selectors import count_member_shares, list_cached_pools

NEARLY_FULL: Final = 0.95
BLOCKS_NEARLY_FULL: Final = 0.9  # a quarter more members than today are planned for; a tenth is left


def iter_attention_items() -> Iterator[AttentionItem]:
    """Yield pools that are nearly full."""
    pools = list_cached_pools()
    yield from _iter_member_pools(pools)
    for usage in get_cached("block-usages", lambda: list_block_usages(pools)):
        if usage.share >= BLOCKS_NEARLY_FULL:
            yield _build_block_need(usage)


def _iter_member_pools(pools: Iterable[Pool]) -> Iterator[AttentionItem]:
    held = count_assigned_shares()
    for pool in (each for each in pools if each.kind != Pool.Kind.PUBLIC4):
        free = count_member_shares(pool) - held.get(pool.pk, 0)
        if held.get(pool.pk, 0) >= count_member_shares(pool) * NEARLY_FULL:
            words = ngettext("%(n)s of %(size)s is free", "%(n)s of %(size)s are free", free)
            evidence = words % {"n": formats.format_number(free), "size": formats.format_number(count_member_shares(pool))}
            yield _build_need(pool, _("The pool %(pool)s is nearly full") % {"pool": pool.name}, evidence)


def _build_block_need(usage: BlockUsage) -> AttentionItem:
    given = {"pool": usage.pool.name, "free": formats.format_number(usage.free), "blocks": formats.format_number(usage.blocks)}
    what = _("The port blocks of %(pool)s are nearly used up") % given
    words = ngettext(
        "%(free)s of %(blocks)s blocks is free: so many members can still be added.",
        "%(free)s of %(blocks)s blocks are free: so many members can still be added.",
        usage.free,
    )
    cure = _("Enlarge the pool, add another one, or choose smaller blocks for it.")
    if not usage.free:
        words = _("All %(blocks)s blocks are in use: a further member gets no public IPv4 address from it.")
    return _build_need(usage.pool, what, f"{words % given} {cure}")


def _build_need(pool: Pool, what: str, evidence: str) -> AttentionItem:
    state = StateLabel(StateKind.WARN, _("Nearly full"))
    return AttentionItem(f"pool-{pool.pk}", state, what, evidence, None, _("Open"), resolve_url("network:pool", pool.pk))
