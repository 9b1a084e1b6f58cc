"""Values for the status of objects on pages: states, gateway pairs, lanes of rollouts.

Apps build them from their rows; template tags draw them. A kind is a colour with a meaning (LOOK: states). Colour is never the
only sign: every value has a word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext, ngettext


class StateKind(StrEnum):
    ACTIVE = "active"  # plain ink with a green icon, so that only exceptions stand out
    OK = "ok"
    MOVING = "moving"
    WAIT = "wait"  # for a person
    WARN = "warn"
    BAD = "bad"
    PLAIN = "plain"


ICONS = {
    StateKind.ACTIVE: "ok",
    StateKind.OK: "ok",
    StateKind.MOVING: "moving",
    StateKind.WAIT: "wait",
    StateKind.WARN: "warn",
    StateKind.BAD: "failed",
    StateKind.PLAIN: "off",
}


@dataclass(frozen=True)
class StateLabel:
    kind: StateKind
    word: str
    icon: str = ""

    @property
    def shown_icon(self) -> str:
        return self.icon or ICONS[self.kind]


class SymbolState(StrEnum):
    """Status of an object on one gateway."""

    FULL = "full"  # confirmed
    HALF = "half"  # in progress
    HOLLOW = "hollow"  # not there
    CROSSED = "crossed"  # failed or reverted


@dataclass(frozen=True)
class GatewaySymbol:
    gateway: str
    state: SymbolState


def summarize_symbols(posts: Iterable[GatewaySymbol]) -> str:
    """Describe the pair: both, nat-2 only, nat-2 so far, under way, failed, off; none without gateways."""
    posts = tuple(posts)
    states = {post.state for post in posts}
    live = ", ".join(post.gateway for post in posts if post.state is SymbolState.FULL)
    if not posts:
        return gettext("none")
    if states == {SymbolState.FULL}:
        return _describe_all(posts)
    if live:
        words = gettext("%(gateways)s so far") if SymbolState.HALF in states else gettext("%(gateways)s only")
        return words % {"gateways": live}
    if SymbolState.HALF in states:
        return gettext("under way")
    return gettext("failed") if SymbolState.CROSSED in states else gettext("off")


def _describe_all(posts: tuple[GatewaySymbol, ...]) -> str:
    if len(posts) == 1:
        return posts[0].gateway
    return gettext("both") if len(posts) == 2 else ngettext("all %(count)s", "all %(count)s", len(posts)) % {"count": len(posts)}


def describe_symbols(posts: Iterable[GatewaySymbol]) -> str:
    """Describe each post: nat-1: under way, nat-2: confirmed."""
    words = {
        SymbolState.FULL: gettext("confirmed"),
        SymbolState.HALF: gettext("under way"),
        SymbolState.HOLLOW: gettext("missing"),
        SymbolState.CROSSED: gettext("failed"),
    }
    return ", ".join(f"{post.gateway}: {words[post.state]}" for post in posts)


@dataclass(frozen=True)
class RolloutLaneStep:
    """One of the four steps of a lane: sent, committed, probe, confirmed. PLAIN marks a step that is still to come."""

    kind: StateKind
    title: str
    evidence: str = ""

    @property
    def icon(self) -> str:
        return {
            StateKind.OK: "check",
            StateKind.WARN: "warn",
            StateKind.BAD: "close",
            StateKind.MOVING: "more",
            StateKind.WAIT: "more",
        }.get(self.kind, "")


@dataclass(frozen=True)
class GatewayLane:
    gateway: str
    note: str
    state: StateLabel
    steps: tuple[RolloutLaneStep, ...]
