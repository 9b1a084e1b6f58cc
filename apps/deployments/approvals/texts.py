"""Texts about a held-back part: its title, why it waits, who asked, what each decision does, and the outcome. Reads no elements."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.approvals import kinds
from apps.deployments.approvals.kinds import MANAGEMENT, SPECIAL
from apps.deployments.approvals.part_codec import unpack_values
from apps.deployments.models import HeldBack
from apps.deployments.revision_pages.change_summary import render_count, render_kind_name
from apps.deployments.rule_kinds.registry import get_removal_definition
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from firewall.sets import ObjectKind as Of


def render_title(held: HeldBack) -> str:
    """Return a title of what waits."""
    given = {"n": formats.format_number(held.removed), "group": held.group.name}
    match held.kind:
        case kinds.MANAGEMENT:
            words = ngettext(
                "A change of management on %(n)s gateway waits for a second person",
                "A change of management on %(n)s gateways waits for a second person",
                held.removed,
            )
        case kinds.LIMITS:
            words = _("Looser limits for %(group)s wait for a second person")
        case kinds.ROLLBACK:
            given["revision"] = f"r{unpack_values(held.packed)['revision']}" if "packed" not in held.get_deferred_fields() else ""
            words = (
                _("A rollback to %(revision)s waits for a second person")
                if given["revision"]
                else _("A rollback waits for a second person")
            )
        case Of.BLOCKS:
            words = ngettext("%(n)s new block waits for a second person", "%(n)s new blocks wait for a second person", held.removed)
        case _:
            words = ngettext("%(n)s removal waits for a second person", "%(n)s removals wait for a second person", held.removed)
    return words % given


def render_reason(held: HeldBack) -> str:
    """Return why it waits, with the limits in words."""
    match held.kind:
        case kinds.MANAGEMENT:
            return _("It decides who can reach the gateways themselves. A mistake there locks everybody out, so one person is not enough.")
        case kinds.LIMITS:
            return _("Above these limits, removals wait for a second person. So loosening the limits needs a second person, too.")
        case kinds.ROLLBACK:
            return _(
                "The older revision takes service away, or changes who can reach the gateways themselves, so one person is not enough."
            )
    words = _("%(removed)s of %(of)s would be removed, which is %(percent)s. The limit is %(share)s and at least %(least)s.")
    if held.kind == Of.BLOCKS:
        words = _("%(removed)s of %(of)s would be cut off, which is %(percent)s. The limit is %(share)s and at least %(least)s.")
    text = words % _build_limit_words(held)
    if not held.earlier:
        return text
    before = ngettext("%(n)s in the hour before counts as well.", "%(n)s in the hour before count as well.", held.earlier)
    return f"{text} {before % {'n': formats.format_number(held.earlier)}}"


def _build_limit_words(held: HeldBack) -> dict[str, str]:
    of = ngettext("%(n)s member", "%(n)s members", held.of) % {"n": formats.format_number(held.of)} if held.kind == Of.BLOCKS else ""
    return {
        "removed": formats.format_number(held.removed),
        "of": of or render_count(Of(held.kind), held.of),
        "percent": formats.format_percent(100 * held.removed / held.of if held.of else 100.0),
        "share": formats.format_percent(held.group.removal_share),
        "least": formats.format_number(held.group.removal_least),
    }


def render_request(held: HeldBack) -> str:
    """Return a sentence about who asked for it."""
    names = [person.name for person in held.askers.all()]
    given = {"names": ", ".join(names), "time": formats.format_full_time(held.since)}
    if not names:
        return (
            _("It is not known who requested this: the database was changed without naming an account. Held back since %(time)s.") % given
        )
    if held.asker_unknown:
        return _("Requested by %(names)s, and by a change to the database without a known author. Held back since %(time)s.") % given
    return _("Requested by %(names)s, %(time)s.") % given


def render_requesters(held: HeldBack) -> str:
    """Return the askers' names, for a table."""
    names = [person.name for person in held.askers.all()]
    return ", ".join([*names, _("an unknown person")] if held.asker_unknown or not names else names)


def render_all_waiting(held: Iterable[HeldBack]) -> str:
    """Summarise everything that waits in a line of sentences; "" if nothing waits."""
    rows = list(held)
    removed = sum(row.removed for row in rows if row.kind not in SPECIAL)
    words = ngettext("%(n)s removal is held back.", "%(n)s removals are held back.", removed) % {"n": formats.format_number(removed)}
    management = _("A change to gateway management is held back.") if any(row.kind == MANAGEMENT for row in rows) else ""
    limits = _("Looser limits are held back.") if any(row.kind == kinds.LIMITS for row in rows) else ""
    back = _("A rollback is held back.") if any(row.kind == kinds.ROLLBACK for row in rows) else ""
    return " ".join(filter(None, [words if removed else "", management, limits, back]))


def render_button(held: HeldBack) -> str:
    """Return the label of the approval button."""
    given = {"n": formats.format_number(held.removed)}
    match held.kind:
        case kinds.MANAGEMENT:
            return ngettext("Approve the change on %(n)s gateway", "Approve the change on %(n)s gateways", held.removed) % given
        case kinds.LIMITS:
            return _("Approve these limits")
        case kinds.ROLLBACK:
            return _("Approve the rollback")
        case Of.BLOCKS:
            return ngettext("Approve %(n)s block", "Approve %(n)s blocks", held.removed) % given
    return ngettext("Approve %(n)s removal", "Approve %(n)s removals", held.removed) % given


def render_kind(held: HeldBack) -> str:
    """Return the kind of what waits, as the head of a row."""
    special = {kinds.MANAGEMENT: _("Management"), kinds.LIMITS: _("Limits"), kinds.ROLLBACK: _("Going back")}
    return special.get(held.kind) or render_kind_name(Of(held.kind))


def render_refusal_effect(held: HeldBack) -> str:
    """Return what a refusal does."""
    special = {
        kinds.MANAGEMENT: _("restores interface, port and networks of the gateways"),
        kinds.LIMITS: _("leaves the limits as they are"),
        kinds.ROLLBACK: _("leaves the gateways on their current revision"),
    }
    return special[held.kind] if held.kind in special else str(get_removal_definition(Of(held.kind)).undo)


def render_decision(held: HeldBack) -> str:
    """Return what was decided, by which user and when; "" while it waits."""
    if held.state == HeldBack.State.OBSOLETE:
        return _("Obsolete: it was undone meanwhile, or the gateways do not have it any more.")
    if held.decided is None:
        return ""
    given = {"name": held.decided_by.name if held.decided_by else _("(deleted account)"), "time": formats.format_full_time(held.decided)}
    if held.state == HeldBack.State.REFUSED:
        return _("Refused by %(name)s, %(time)s: %(why)s") % {**given, "why": held.reason}
    words = _("Approved by %(name)s, %(time)s.") % given
    if held.alone:
        words += " " + _("The same person requested it, or may have, and signed in again, because there was no other approver.")
    return words


def build_approval_state_label(held: HeldBack) -> StateLabel:
    """Return the state label, for tables."""
    states = {
        HeldBack.State.WAITING: StateLabel(StateKind.WAIT, _("Waits")),
        HeldBack.State.APPROVED: StateLabel(StateKind.MOVING, _("Approved")),
        HeldBack.State.REFUSED: StateLabel(StateKind.BAD, _("Refused")),
        HeldBack.State.OBSOLETE: StateLabel(StateKind.PLAIN, _("Obsolete")),
        HeldBack.State.DONE: StateLabel(StateKind.OK, _("Rolled out")),
    }
    return states[HeldBack.State(held.state)]
