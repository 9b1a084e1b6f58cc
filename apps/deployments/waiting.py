"""What waits for a second person, for the page: what it is, why it waits, whom it concerns, and who may approve it."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.deployments import decisions, effects
from apps.deployments.effects import Effect, Thing
from apps.deployments.gate import MANAGEMENT
from apps.deployments.models import HeldBack
from apps.deployments.words import kind_words, things
from apps.lib import formats
from apps.lib.states import Kind, State
from firewall.sets import Kind as Of

_MOST_NAMES = 5
_TRAILS = {Of.ADDRESSES: "network.holding", Of.PREFIXES: "network.holding", Of.MAPPINGS: "nat.natmapping"}
_TRAILS |= {Of.FORWARDS: "nat.portforward", Of.PINHOLES: "nat.pinhole", Of.BANS: "bans.ban", Of.ALLOWED: "bans.allowentry"}


@dataclass(frozen=True)
class Named:
    """Somebody or something it concerns; url: "" where there is no page."""

    name: str
    what: str
    url: str = ""


@dataclass(frozen=True)
class Change:
    """What changes of a gateway's management."""

    gateway: str
    what: str
    old: str
    new: str


@dataclass(frozen=True)
class Waiting:
    """One part that is held back. own: whoever looks asked for it; colleagues: who else may approve it then."""

    held: HeldBack
    title: str
    why: str
    verb: str
    undo: str
    history: str
    numbers: list[tuple[str, int]]
    sentence: str
    named: list[Named]
    more: int
    changes: list[Change]
    own: bool
    colleagues: str

    @property
    def mine_to_approve(self) -> bool:
        """May whoever looks approve it, if need be after signing in again?"""
        return not self.colleagues


def waiting(held: HeldBack, by: User) -> Waiting:
    """Everything that the page says of it to this person."""
    own = decisions.needs_sign_in(held, by)
    others = decisions.approvers_but(by) if own else []
    management = held.kind == MANAGEMENT
    effect = None if management else effects.effect_of(held)
    named = _named(effect) if effect else []
    concerned = (effect.members or len(effect.things)) if effect else 0
    return Waiting(
        held,
        title(held),
        why(held),
        verb(held),
        undo(held),
        _history(held),
        _numbers(effect) if effect else [],
        _sentence(effect) if effect else "",
        named,
        max(0, concerned - len(named)),
        changes_of(held) if management else [],
        own,
        _names(others),
    )


def _names(people: list[User]) -> str:
    names = [person.name for person in people[:_MOST_NAMES]]
    return ", ".join([*names, "…"] if len(people) > _MOST_NAMES else names)


# --- In a sentence: these read no elements


def title(held: HeldBack) -> str:
    """What waits."""
    given = {"n": formats.number(held.removed)}
    if held.kind == MANAGEMENT:
        words = ngettext(
            "A change of management on %(n)s gateway waits for a second person",
            "A change of management on %(n)s gateways waits for a second person",
            held.removed,
        )
    else:
        words = ngettext("%(n)s removal waits for a second person", "%(n)s removals wait for a second person", held.removed)
    return words % given


def why(held: HeldBack) -> str:
    """Why it waits: the limits, in words."""
    if held.kind == MANAGEMENT:
        return _("It decides who can reach the gateways themselves. A mistake there locks everybody out, so one person is not enough.")
    given = {
        "removed": formats.number(held.removed),
        "of": things(Of(held.kind), held.of),
        "percent": formats.percent(100 * held.removed / held.of if held.of else 100.0),
        "share": formats.percent(held.group.removal_share),
        "least": formats.number(held.group.removal_least),
    }
    return _("%(removed)s of %(of)s would go, which is %(percent)s. The limit is %(share)s and at least %(least)s.") % given


def together(held: Iterable[HeldBack]) -> str:
    """All that waits in one sentence; nothing where nothing does."""
    rows = list(held)
    removed = sum(row.removed for row in rows if row.kind != MANAGEMENT)
    words = ngettext("%(n)s removal is held back.", "%(n)s removals are held back.", removed) % {"n": formats.number(removed)}
    management = _("A change of management is held back.") if any(row.kind == MANAGEMENT for row in rows) else ""
    return " ".join(filter(None, [words if removed else "", management]))


def verb(held: HeldBack) -> str:
    """What stands on the button."""
    given = {"n": formats.number(held.removed)}
    if held.kind == MANAGEMENT:
        return ngettext("Approve the change on %(n)s gateway", "Approve the change on %(n)s gateways", held.removed) % given
    return ngettext("Approve %(n)s removal", "Approve %(n)s removals", held.removed) % given


def kind_of(held: HeldBack) -> str:
    """What kind of thing waits: the head of a row."""
    return _("Management") if held.kind == MANAGEMENT else kind_words(Of(held.kind))


def undo(held: HeldBack) -> str:
    """How to refuse it."""
    texts = {
        Of.ADDRESSES: _("give the members their addresses back, or make them active again"),
        Of.PREFIXES: _("give the members their prefixes back, or make them active again"),
        Of.MAPPINGS: _("give the members their public addresses back"),
        Of.FORWARDS: _("open the port forwards again"),
        Of.PINHOLES: _("open the pinholes again"),
        Of.BANS: _("ban them again, or import the list as it was"),
        Of.ALLOWED: _("put them on the allow list again"),
    }
    if held.kind == MANAGEMENT:
        return _("set interface, port and networks of the gateway back")
    return texts[Of(held.kind)]


def _history(held: HeldBack) -> str:
    """The history of what it is about, by whoever asked."""
    trail = "network.gateway" if held.kind == MANAGEMENT else _TRAILS[Of(held.kind)]
    try:
        url = reverse("audit:history")
    except NoReverseMatch:
        return ""
    return f"{url}?kind={trail}" + (f"&person={held.asked_by_id}" if held.asked_by_id else "")


def decided(held: HeldBack) -> str:
    """What became of it."""
    if held.state == HeldBack.State.OBSOLETE:
        return _("No longer asked for: somebody has undone it, or the gateways do not have it any more.")
    if held.decided is None:
        return ""
    given = {"name": held.decided_by.name if held.decided_by else _("somebody who is gone"), "time": formats.full(held.decided)}
    words = _("Approved by %(name)s, %(time)s.") % given
    if held.alone:
        words += " " + _("It was asked for by the same person, who signed in again, because nobody else could approve it.")
    return words


def state(held: HeldBack) -> State:
    """The state, for tables."""
    states = {
        HeldBack.State.WAITING: State(Kind.WAIT, _("Waits")),
        HeldBack.State.APPROVED: State(Kind.MOVING, _("Approved")),
        HeldBack.State.OBSOLETE: State(Kind.PLAIN, _("No longer asked for")),
        HeldBack.State.DONE: State(Kind.OK, _("Gone out")),
    }
    return states[HeldBack.State(held.state)]


# --- The effect


def _numbers(effect: Effect) -> list[tuple[str, int]]:
    """Four of them, each with its label."""
    number = effect.number
    if effect.kind in (Of.BANS, Of.ALLOWED):
        allowed = effect.kind is Of.ALLOWED
        ends = ngettext("allow entry ends", "allow entries end", number) if allowed else ngettext("ban ends", "bans end", number)
        return [
            (ends, number),
            (_("of them hit in the last 24 h"), effect.hit),
            (_("of them whole networks"), effect.wide),
            (_("of them IPv6"), effect.ipv6),
        ]
    labels = {
        Of.FORWARDS: ngettext("port closes", "ports close", number),
        Of.PINHOLES: ngettext("IPv6 pinhole closes", "IPv6 pinholes close", number),
        Of.MAPPINGS: ngettext("NAT mapping goes", "NAT mappings go", number),
        Of.PREFIXES: ngettext("prefix loses access", "prefixes lose access", number),
        Of.ADDRESSES: ngettext("address loses access", "addresses lose access", number),
    }
    public = ngettext("public address concerned", "public addresses concerned", effect.publics)
    last = (public, effect.publics) if effect.publics else (_("of them have left"), effect.members - effect.active)
    members = ngettext("member concerned", "members concerned", effect.members)
    return [(labels[effect.kind], number), (members, effect.members), (_("of them active"), effect.active), last]


def _sentence(effect: Effect) -> str:
    """Whom it concerns; their names follow."""
    members = {"n": formats.number(effect.members)}
    match effect.kind:
        case Of.BANS:
            bans = ngettext("%(n)s ban ends:", "%(n)s bans end:", len(effect.things))
            return bans % {"n": formats.number(len(effect.things))}
        case Of.ALLOWED:
            entries = ngettext("%(n)s allow entry ends:", "%(n)s allow entries end:", len(effect.things))
            return entries % {"n": formats.number(len(effect.things))}
        case _ if not effect.members:
            return _("The database knows nobody who held them:")
        case Of.MAPPINGS:
            words = ngettext("%(n)s member loses the public address:", "%(n)s members lose their public address:", effect.members)
        case Of.FORWARDS | Of.PINHOLES:
            words = ngettext("%(n)s member can no longer be reached:", "%(n)s members can no longer be reached:", effect.members)
        case Of.PREFIXES:
            words = ngettext("%(n)s member loses IPv6:", "%(n)s members lose IPv6:", effect.members)
        case _:
            words = ngettext("%(n)s member loses access:", "%(n)s members lose access:", effect.members)
    return words % members


def _named(effect: Effect) -> list[Named]:
    if not effect.people:
        return [_thing(thing) for thing in effect.things[: effects.FIRST]]
    return [
        Named(person.name, person.first if person.number == 1 else f"{person.first} +{person.number - 1}", _member(person.pk))
        for person in effect.people
    ]


def _thing(thing: Thing) -> Named:
    return Named(thing.words, "")


def _member(pk: int) -> str:
    try:
        return reverse("desk:member", args=[pk])
    except NoReverseMatch:
        return ""


# --- Management


def changes_of(held: HeldBack) -> list[Change]:
    """What changes on which gateway."""
    asked: Mapping[str, list[dict[str, Any]]] = json.loads(zlib.decompress(held.packed))
    names = {"interface": _("Management interface"), "port": _("Management port"), "from": _("Management networks")}
    return [
        Change(gateway, names.get(field, field), _text(old[field]), _text(new[field]))
        for gateway, (old, new) in sorted(asked.items())
        for field in old
        if old[field] != new[field]
    ]


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
