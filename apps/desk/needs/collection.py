"""What needs action, all of it: collected, without what another need stands for, the urgent first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.http import HttpRequest
from django.utils import timezone

from apps.deployments.models import Rollout
from apps.deployments.selectors import map_newest_rollouts
from apps.desk.needs import (
    agents,
    bans,
    ending_bans,
    gateways,
    going_live,
    health,
    inward,
    mails,
    members,
    packets,
    pools,
    portal_health,
    programs,
    roles,
    rollouts,
)
from apps.desk.needs.need import AttentionItem
from apps.desk.result_cache import get_cached
from apps.gateways.selectors import GatewayOverview, build_overviews, list_cached_gateways
from apps.lib.ui.states import StateKind
from apps.lib.web.navigation import NavigationCount
from apps.status.incidents.work_windows import find_work_at, list_work_windows

URGENT: Final = (StateKind.BAD, StateKind.WARN, StateKind.MOVING, StateKind.WAIT, StateKind.PLAIN)


def list_attention_items(now: datetime) -> list[AttentionItem]:
    """Return the needs, which the number in the navigation counts."""
    return collect_needs(build_overviews(list(list_cached_gateways()), now), map_newest_rollouts(), now)


def count_attention_items(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Dashboard”; it asks for attention if any need is more than information."""
    found = get_cached("needs", lambda: list_attention_items(timezone.now()))
    return NavigationCount(len(found), asks=any(need.state.kind is not StateKind.PLAIN for need in found)) if found else None


def collect_needs(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> list[AttentionItem]:
    """Return all needs, the urgent first. newest: the newest rollout of each group."""
    found = _list_all(gates, newest, now)
    replaced = frozenset[str]().union(*(need.stands_for for need in found))
    windows = list_work_windows(now) if any(need.gateways for need in found) else ()
    kept = (replace(need, work=find_work_at(need.gateways, windows)) for need in found if need.key not in replaced)
    return sorted(kept, key=lambda need: URGENT.index(need.state.kind))


def _list_all(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> list[AttentionItem]:
    restored = [*going_live.iter_restore_needs(gates)]
    away = {each.gateway.pk for each in gates if each.status and each.status.unreachable_since}
    return [
        *restored,
        *going_live.iter_live_needs(gates),
        *rollouts.iter_decision_needs(),
        *rollouts.iter_rollout_needs(newest.values()),
        *gateways.iter_attention_items(gates, {} if restored else newest, now),
        *pools.iter_attention_items(),
        *members.iter_attention_items(),
        *bans.iter_block_needs(),
        *ending_bans.iter_attention_items(now),
        *bans.iter_feed_needs(),
        *bans.iter_flood_needs(),
        *mails.iter_outbox_needs(now),
        *mails.iter_inbound_needs(now),
        *packets.iter_attention_items(gates, now),
        *inward.iter_attention_items(gates, now),
        *health.iter_attention_items(gates, now),
        *agents.iter_attention_items(gates),
        *roles.iter_attention_items(now, away),
        *portal_health.iter_attention_items(now),
        *programs.iter_attention_items(now),
    ]
