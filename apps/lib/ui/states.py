"""What a page says about a thing: its state, the pair of gateways it is on, the lane of a rollout.

Apps make these values from their rows; the template tags draw them. A kind is a colour with a meaning (LOOK: states), and colour never
speaks alone: every value carries its word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext, ngettext


class Kind(StrEnum):
    ACTIVE = "active"  # ink with a green icon, so that only the exceptions stand out
    OK = "ok"
    MOVING = "moving"
    WAIT = "wait"  # for a person
    WARN = "warn"
    BAD = "bad"
    PLAIN = "plain"


ICONS = {
    Kind.ACTIVE: "ok",
    Kind.OK: "ok",
    Kind.MOVING: "moving",
    Kind.WAIT: "wait",
    Kind.WARN: "warn",
    Kind.BAD: "failed",
    Kind.PLAIN: "off",
}


@dataclass(frozen=True)
class State:
    kind: Kind
    word: str
    icon: str = ""

    @property
    def shown_icon(self) -> str:
        return self.icon or ICONS[self.kind]


class On(StrEnum):
    """How a thing stands on one gateway."""

    FULL = "full"  # confirmed
    HALF = "half"  # under way
    HOLLOW = "hollow"  # not there
    CROSSED = "crossed"  # failed, or gone back


@dataclass(frozen=True)
class Post:
    gateway: str
    on: On


def pair_word(posts: Iterable[Post]) -> str:
    """both, nat-2 only, nat-2 so far, under way, failed, off; none where there is no gateway."""
    posts = tuple(posts)
    states = {post.on for post in posts}
    live = ", ".join(post.gateway for post in posts if post.on is On.FULL)
    if not posts:
        return gettext("none")
    if states == {On.FULL}:
        return _all(posts)
    if live:
        words = gettext("%(gateways)s so far") if On.HALF in states else gettext("%(gateways)s only")
        return words % {"gateways": live}
    if On.HALF in states:
        return gettext("under way")
    return gettext("failed") if On.CROSSED in states else gettext("off")


def _all(posts: tuple[Post, ...]) -> str:
    if len(posts) == 1:
        return posts[0].gateway
    return gettext("both") if len(posts) == 2 else ngettext("all %(count)s", "all %(count)s", len(posts)) % {"count": len(posts)}


def post_words(posts: Iterable[Post]) -> str:
    """nat-1: under way, nat-2: confirmed."""
    words = {On.FULL: gettext("confirmed"), On.HALF: gettext("under way"), On.HOLLOW: gettext("not there"), On.CROSSED: gettext("failed")}
    return ", ".join(f"{post.gateway}: {words[post.on]}" for post in posts)


@dataclass(frozen=True)
class Step:
    """One of the four steps of a lane: sent, committed, probe, confirmed. PLAIN is a step that is still to come."""

    kind: Kind
    title: str
    evidence: str = ""

    @property
    def icon(self) -> str:
        return {Kind.OK: "check", Kind.WARN: "warn", Kind.BAD: "close", Kind.MOVING: "more", Kind.WAIT: "more"}.get(self.kind, "")


@dataclass(frozen=True)
class Lane:
    gateway: str
    note: str
    state: State
    steps: tuple[Step, ...]
