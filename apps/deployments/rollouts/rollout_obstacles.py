"""Reasons of other apps for which a new rollout of a group waits some seconds. An app enqueues a reconciliation when its reason ends."""

from collections.abc import Callable

from apps.network.models import GatewayGroup

ObstacleLookup = Callable[[GatewayGroup], bool]
_lookups: list[ObstacleLookup] = []


def register_obstacle_lookup(lookup: ObstacleLookup) -> ObstacleLookup:
    """Register a lookup, in the ready() of the app that owns it. It returns True while no rollout of the group may begin."""
    if lookup not in _lookups:
        _lookups.append(lookup)
    return lookup


def must_wait(group: GatewayGroup) -> bool:
    """True while no rollout of the group may begin. Asked when the new rollout's row refers to the group, which locks that row."""
    return any(lookup(group) for lookup in _lookups)
