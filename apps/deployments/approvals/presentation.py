"""Context of the approval pages: what waits and why, who is concerned, and who may approve it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.deployments.approvals import effects, kinds
from apps.deployments.approvals.effects import RemovalEffect
from apps.deployments.approvals.eligibility import compute_standing
from apps.deployments.approvals.kinds import SPECIAL
from apps.deployments.approvals.limit_changes import unpack_limits
from apps.deployments.approvals.part_codec import unpack_values
from apps.deployments.approvals.texts import render_button, render_reason, render_refusal_effect, render_request, render_title
from apps.deployments.models import HeldBack
from apps.deployments.revision_pages.change_summary import render_count
from apps.deployments.rule_kinds.kind import AffectedThing
from apps.deployments.rule_kinds.registry import get_removal_definition
from apps.lib.ui import formats
from firewall.sets import ObjectKind as Of

_MOST_NAMES = 5


@dataclass(frozen=True)
class AffectedEntry:
    """A member or thing concerned. url: "" if it has no page."""

    name: str
    what: str
    url: str = ""


@dataclass(frozen=True)
class SettingChange:
    """One changed field of a gateway's management, or of the group's limits."""

    gateway: str
    what: str
    old: str
    new: str


@dataclass(frozen=True)
class HeldBackContext:
    """A held-back part for the page. own: the viewer asked for it. perhaps: its author is unknown, and the viewer could be the one.

    colleagues: the approvers who have to decide instead. asked: a sentence about who asked. undo: what a refusal does.
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
    named: list[AffectedEntry]
    more: int
    changes: list[SettingChange]
    facts: list[str]
    own: bool
    perhaps: bool
    colleagues: str

    @property
    def can_approve(self) -> bool:
        """True if the viewer may approve it, if need be after signing in again."""
        return not self.colleagues


def build_held_back_context(held: HeldBack, by: User) -> HeldBackContext:
    """Build everything that the page shows to this user about the part."""
    standing = compute_standing(held, by)
    effect = None if held.kind in SPECIAL else effects.compute_effect(held)
    named = _list_affected(effect) if effect else []
    concerned = (effect.members or len(effect.things)) if effect else 0
    return HeldBackContext(
        held,
        render_title(held),
        render_reason(held),
        render_button(held),
        render_request(held),
        render_refusal_effect(held),
        _build_history_url(held),
        _list_numbers(effect) if effect else [],
        _render_sentence(effect) if effect else "",
        named,
        max(0, concerned - len(named)),
        list_changes(held),
        list_rollback_facts(held),
        standing.asked,
        standing.perhaps,
        _render_names(standing.others),
    )


def _render_names(people: Sequence[User]) -> str:
    names = [person.name for person in people[:_MOST_NAMES]]
    return ", ".join([*names, "…"] if len(people) > _MOST_NAMES else names)


def _build_history_url(held: HeldBack) -> str:
    """Return the URL of the history of what it is about, filtered by its asker if there is exactly one."""
    special = {kinds.MANAGEMENT: "network.gateway", kinds.LIMITS: "network.gatewaygroup", kinds.ROLLBACK: ""}
    trail = special[held.kind] if held.kind in special else get_removal_definition(Of(held.kind)).history
    people = list(held.askers.values_list("pk", flat=True))
    return f"{reverse('audit:history')}?kind={trail}" + (f"&person={people[0]}" if len(people) == 1 and not held.asker_unknown else "")


# --- Effect


def _list_numbers(effect: RemovalEffect) -> list[tuple[str, int]]:
    """Return four numbers, each with its label."""
    number = effect.number
    label = (get_removal_definition(effect.kind).label(number), number)
    if effect.kind in (Of.BANS, Of.ALLOWED):
        return [
            label,
            (_("of them hit in the last 24 h"), effect.hit),
            (_("of them whole networks"), effect.network_count),
            (_("of them IPv6"), effect.ipv6_count),
        ]
    public = ngettext("public address affected", "public addresses affected", effect.public_count)
    last = (public, effect.public_count) if effect.public_count else (_("of them have left"), effect.members - effect.active)
    members = ngettext("member affected", "members affected", effect.members)
    return [label, (members, effect.members), (_("of them active"), effect.active), last]


def _render_sentence(effect: RemovalEffect) -> str:
    """Return a sentence about what members lose; their names follow it."""
    removal = get_removal_definition(effect.kind)
    number = effect.members if removal.of_members else len(effect.things)
    if not number:
        return _("No member is known to have had them:")
    return removal.sentence(number) % {"n": formats.format_number(number)}


def _list_affected(effect: RemovalEffect) -> list[AffectedEntry]:
    if not effect.people:
        return [_build_thing_entry(thing) for thing in effect.things[: effects.FIRST]]
    return [
        AffectedEntry(
            person.name, person.first if person.number == 1 else f"{person.first} +{person.number - 1}", _build_member_url(person.pk)
        )
        for person in effect.people
    ]


def _build_thing_entry(thing: AffectedThing) -> AffectedEntry:
    return AffectedEntry(thing.words, "")


def _build_member_url(pk: int) -> str:
    return reverse("desk:member", args=[pk])


# --- Management


def list_changes(held: HeldBack) -> list[SettingChange]:
    """Return the changes to gateways' management, or to the group's limits."""
    if held.kind == kinds.LIMITS:
        words = {
            "removal_share": _("Share above which removals wait, in percent"),
            "removal_least": _("Number of removals from which they wait"),
        }
        return [SettingChange(held.group.name, words[name], str(old), str(new)) for name, (old, new) in unpack_limits(held).items()]
    if held.kind not in (kinds.MANAGEMENT, kinds.ROLLBACK):
        return []
    read = unpack_values(held.packed)
    gateways: Mapping[str, list[dict[str, Any]]] = read if held.kind == kinds.MANAGEMENT else read["management"]
    names = {"interface": _("Management interface"), "port": _("Management port"), "from": _("Management networks")}
    return [
        SettingChange(gateway, names.get(field, field), _render_value(old[field]), _render_value(new[field]))
        for gateway, (old, new) in sorted(gateways.items())
        for field in old
        if old[field] != new[field]
    ]


def list_rollback_facts(held: HeldBack) -> list[str]:
    """Return the reason given for a rollback, and how much of each kind it removes."""
    if held.kind != kinds.ROLLBACK:
        return []
    read = unpack_values(held.packed)
    words = _("%(removed)s of %(of)s")
    lines = [
        words % {"removed": formats.format_number(each["removed"]), "of": render_count(Of(each["kind"]), each["of"])}
        for each in read["lines"]
    ]
    return [_("The reason given: %(why)s") % {"why": read["why"]}, *lines]


def _render_value(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
