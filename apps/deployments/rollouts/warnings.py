"""Warnings beside a rollout under way: what would be worse than usual if a gateway failed during it. Other apps know that."""

from collections.abc import Callable, Iterable

from apps.network.models import GatewayGroup

WarningLookup = Callable[[GatewayGroup], Iterable[str]]
_lookups: list[WarningLookup] = []


def register_warning_lookup(lookup: WarningLookup) -> WarningLookup:
    """Register a lookup, in the ready() of the app that owns it. It returns sentences for people, in their language."""
    if lookup not in _lookups:
        _lookups.append(lookup)
    return lookup


def list_warnings(group: GatewayGroup) -> list[str]:
    """Return the warnings for a group at this moment."""
    return [text for lookup in _lookups for text in lookup(group)]
