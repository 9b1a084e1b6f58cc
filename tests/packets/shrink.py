"""Shrinks a failing case: to the fewest events, then to the fewest objects of the policy, with which it still fails."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from firewall.policy import Policy
from tests.packets.events import Event

type Fails = Callable[[Policy, list[Event]], bool]


def smallest(policy: Policy, happens: list[Event], fails: Fails) -> tuple[Policy, list[Event]]:
    """Return the smallest policy and events that still fail. The given case must fail."""
    happens = _fewest(happens, lambda kept: fails(policy, kept))
    for each in fields(policy):
        if each.name != "gateway":
            policy = _with_fewest(policy, each.name, lambda smaller: fails(smaller, happens))
    return policy, happens


def _with_fewest(policy: Policy, name: str, fails: Callable[[Policy], bool]) -> Policy:
    return _with(policy, name, _fewest(list(getattr(policy, name)), lambda some: fails(_with(policy, name, some))))


def _with(policy: Policy, name: str, values: Sequence[object]) -> Policy:
    kept: dict[str, Any] = {name: tuple(values)}
    return replace(policy, **kept)


def _fewest[T](items: list[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Drop the items that the failure does not need: first all of them, then halves, quarters, and so on down to single ones."""
    size = 2 * len(items)
    while size := size // 2:
        at = 0
        while at < len(items):
            fewer = items[:at] + items[at + size :]
            if fails(fewer):
                items = fewer
            else:
                at += size
    return items
