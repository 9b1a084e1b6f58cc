"""What waits for a second person, for the page: what it is, why it waits, whom it concerns, and who may approve it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.deployments.approvals import effects, kinds
from apps.deployments.approvals.effects import Effect, Thing
from apps.deployments.approvals.eligibility import standing_of
from apps.deployments.approvals.kinds import SPECIAL
from apps.deployments.approvals.limit_changes import limits_asked
from apps.deployments.approvals.part_codec import unpack
from apps.deployments.approvals.texts import asked, title, undo, verb, why
from apps.deployments.models import HeldBack
from apps.deployments.revision_pages.change_summary import things
from apps.lib.ui import formats
from firewall.sets import Kind as Of

_MOST_NAMES = 5
_TRAILS = {Of.ADDRESSES: "network.holding", Of.PREFIXES: "network.holding", Of.MAPPINGS: "nat.natmapping"}
_TRAILS |= {Of.BLOCKS: "bans.block", Of.LISTENERS: "bans.listener"}
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
    """One part that is held back. own: whoever looks asked for it; perhaps: nobody knows who did, and whoever looks could have.

    colleagues: who else has to approve it then. asked: who asked, in a sentence. undo: what a refusal does.
    """

    held: HeldBack
    title: str
    why: str
    verb: str
    asked: str
    undo: str
    history: str
    numbers: list[tuple[str, int]]
    sentence: str
    named: list[Named]
    more: int
    changes: list[Change]
    facts: list[str]
    own: bool
    perhaps: bool
    colleagues: str

    @property
    def mine_to_approve(self) -> bool:
        """May whoever looks approve it, if need be after signing in again?"""
        return not self.colleagues


def waiting(held: HeldBack, by: User) -> Waiting:
    """Everything that the page says of it to this person."""
    standing = standing_of(held, by)
    effect = None if held.kind in SPECIAL else effects.effect_of(held)
    named = _named(effect) if effect else []
    concerned = (effect.members or len(effect.things)) if effect else 0
    return Waiting(
        held,
        title(held),
        why(held),
        verb(held),
        asked(held),
        undo(held),
        _history(held),
        _numbers(effect) if effect else [],
        _sentence(effect) if effect else "",
        named,
        max(0, concerned - len(named)),
        changes_of(held),
        facts(held),
        standing.asked,
        standing.perhaps,
        _names(standing.others),
    )


def _names(people: Sequence[User]) -> str:
    names = [person.name for person in people[:_MOST_NAMES]]
    return ", ".join([*names, "…"] if len(people) > _MOST_NAMES else names)


def _history(held: HeldBack) -> str:
    """The history of what it is about, by whoever asked where that is one person."""
    special = {kinds.MANAGEMENT: "network.gateway", kinds.LIMITS: "network.gatewaygroup", kinds.ROLLBACK: ""}
    trail = special[held.kind] if held.kind in special else _TRAILS[Of(held.kind)]
    people = list(held.askers.values_list("pk", flat=True))
    try:
        url = reverse("audit:history")
    except NoReverseMatch:
        return ""
    return f"{url}?kind={trail}" + (f"&person={people[0]}" if len(people) == 1 and not held.asker_unknown else "")


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
        Of.BLOCKS: ngettext("address or prefix is cut off", "addresses and prefixes are cut off", number),
        Of.LISTENERS: ngettext("listener goes", "listeners go", number),
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
        case Of.LISTENERS:
            listeners = ngettext("%(n)s listener goes:", "%(n)s listeners go:", len(effect.things))
            return listeners % {"n": formats.number(len(effect.things))}
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
    """What changes on which gateway, or of the group's limits."""
    if held.kind == kinds.LIMITS:
        words = {"removal_share": _("Share that waits, in percent"), "removal_least": _("Removals that wait, at least")}
        return [Change(held.group.name, words[name], str(old), str(new)) for name, (old, new) in limits_asked(held).items()]
    if held.kind not in (kinds.MANAGEMENT, kinds.ROLLBACK):
        return []
    read = unpack(held.packed)
    gateways: Mapping[str, list[dict[str, Any]]] = read if held.kind == kinds.MANAGEMENT else read["management"]
    names = {"interface": _("Management interface"), "port": _("Management port"), "from": _("Management networks")}
    return [
        Change(gateway, names.get(field, field), _text(old[field]), _text(new[field]))
        for gateway, (old, new) in sorted(gateways.items())
        for field in old
        if old[field] != new[field]
    ]


def facts(held: HeldBack) -> list[str]:
    """Of a rollback: why somebody wants it, and how much of each kind goes."""
    if held.kind != kinds.ROLLBACK:
        return []
    read = unpack(held.packed)
    words = _("%(removed)s of %(of)s")
    lines = [words % {"removed": formats.number(each["removed"]), "of": things(Of(each["kind"]), each["of"])} for each in read["lines"]]
    return [_("The reason given: %(why)s") % {"why": read["why"]}, *lines]


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
