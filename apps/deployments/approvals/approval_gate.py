"""Decides which changes go out at once and which need approval: removals beyond the group's limits, and any change of management.

Takes the desired state and what the gateways run, and returns what to deploy. What waits stays unchanged in the kernel and
becomes a `HeldBack` row with exactly its elements and everyone who asked for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from ipaddress import ip_network
from json import dumps
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.approvals import effects, removal_ledger, requesters
from apps.deployments.approvals.kinds import MANAGEMENT, SPECIAL
from apps.deployments.approvals.part_codec import RulesetPart, pack_part, pack_values, unpack_part, unpack_values
from apps.deployments.approvals.requesters import Requesters
from apps.deployments.desired_state.desired_rulesets import DesiredState, RulesetChange, compute_delta
from apps.deployments.models import GatewayState, HeldBack, Revision
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.lib.database.compiled_query import compile_once
from apps.network.models import GatewayGroup
from firewall.addresses import format_prefix
from firewall.blast_radius import (
    ADDITION_PREFIX,
    RemovalLimits,
    ServiceRemoval,
    compute_removals,
    count_removed_by_other_parts,
    find_cutoffs,
    hold_back_parts,
    split_removals,
    subtract_known,
)
from firewall.compile import assemble_ruleset
from firewall.diff import Delta, ElementChange
from firewall.digest import digest_ruleset, format_digest
from firewall.policy import GatewaySpec, Management, PolicyError
from firewall.render import render_delta
from firewall.ruleset import Elements, Ruleset, drop_expired
from firewall.sets import ObjectKind, declare


@dataclass(frozen=True, slots=True)
class ConfirmedRevision:
    """The revision that a gateway has confirmed. seen: the read of the database that it corresponds to."""

    revision: Revision
    seen: str


@dataclass(frozen=True, slots=True)
class RunningState:
    """State that a group's gateways run: what each has confirmed, and the newest of it, against which the desired state is measured.

    reference: the ruleset that a gateway has confirmed with the newest revision. What it lacks has gone already, and a gateway that lags
    behind still has to lose it. If the content of that revision is not stored, it is the newest stored one; None if none is.
    Users who wrote since the read of the database that a revision corresponds to asked for the difference.
    """

    newest: ConfirmedRevision
    rulesets: Mapping[int, Ruleset]  # by gateway id, as far as their contents are stored
    reference: Ruleset | None
    confirmed: Mapping[int, ConfirmedRevision]  # by gateway id


LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('deployments_heldback'), %s)"


def hold_back_unapproved(group: GatewayGroup, wanted: DesiredState, before: RunningState | None) -> DesiredState:
    """Return what may be deployed now. A first load needs no approval.

    Raises PolicyError if the network has lost all its members, and if it is unknown what the gateways run.
    """
    asked = find_any_ruleset(wanted.rulesets)
    if before is None or asked is None:
        return wanted
    running = before.reference
    if running is None:
        raise PolicyError(
            _(
                "What the gateways run (%(revision)s) is not stored, so nobody can tell what a change would take away. "
                "This is not deployed. Restore a backup that has it, or replace the machine of each gateway."
            )
            % {"revision": before.newest.revision}
        )
    _refuse_an_empty_network(running, asked)
    gone = find_removals(wanted.rulesets, running, wanted.snapshot.now, wanted.deltas)
    waiting = _hold_back_removals(group, gone, running, asked, before.newest.seen) if gone or _read_alive(group.pk) else []
    management = _hold_back_management(group, wanted, before)
    return _keep_waiting_parts(wanted, waiting, management) if waiting or management else wanted


def find_any_ruleset(rulesets: Mapping[int, Ruleset]) -> Ruleset | None:
    """Return the ruleset of any gateway of a group: their elements are the same."""
    return next(iter(rulesets.values()), None)


def _refuse_an_empty_network(running: Ruleset, asked: Ruleset) -> None:
    if _count_members(running) and not _count_members(asked):
        raise PolicyError(
            _("The database has no active member with an address, but the gateways serve %(n)d. This is not deployed.")
            % {"n": _count_members(running)}
        )


def _count_members(ruleset: Ruleset) -> int:
    return sum(len(elements) for name, elements in ruleset.elements.items() if name.startswith("up"))


def find_removals(
    rulesets: Mapping[int, Ruleset], running: Ruleset, now: int, deltas: Mapping[int, RulesetChange]
) -> dict[ObjectKind, ServiceRemoval]:
    """Return removals of service by kind, once for all gateways: they share their elements. deltas: known changes to the rulesets."""
    if any(ruleset is running for ruleset in rulesets.values()):
        return {}
    pk = next((pk for pk, change in deltas.items() if change.base is running), next(iter(rulesets)))
    return _find_removals_between(running, compute_delta(running, rulesets[pk], deltas.get(pk)), now)


def _find_removals_between(running: Ruleset, delta: Delta, now: int) -> dict[ObjectKind, ServiceRemoval]:
    sizes = {name: len(elements) for name, elements in running.elements.items()}
    found = compute_removals(delta.elements, sizes, now)
    cut_off = find_cutoffs(delta.elements, running.elements)
    return found | {cut_off.kind: cut_off} if cut_off else found


# --- Removals


@compile_once
def _read_alive(group: int) -> QuerySet[HeldBack]:
    return HeldBack.objects.filter(group_id=group, state__in=HeldBack.ALIVE).exclude(kind__in=SPECIAL)


@transaction.atomic
def _hold_back_removals(
    group: GatewayGroup, gone: Mapping[ObjectKind, ServiceRemoval], running: Ruleset, asked: Ruleset, seen: str
) -> list[Mapping[str, Elements]]:
    """Return the parts that wait. Close rows if their part is no longer removed unchanged; hold back new removals above the limits.

    What cannot wait goes out whatever the limits, and counts against them. One worker of a group at a time: two that have read the same
    desired state would hold back the same.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [group.pk])
    parts: list[tuple[HeldBack, RulesetPart]] = []
    for row in _read_alive(group.pk):
        part = unpack_part(row.packed)
        if _is_current(row, gone.get(ObjectKind(row.kind)), part):
            parts.append((row, part))
        else:
            _close_row(row)
            seen = pick_earlier_snapshot(seen, row.baseline)
    known = [part for _row, part in parts]
    rests = {
        kind: rest
        for kind, removal in gone.items()
        if (rest := subtract_known(removal, [*known, removal.displaced], running.elements)).elements
    }
    displaced = [subtract_known(replace(removal, elements=removal.displaced), known) for removal in gone.values() if removal.displaced]
    waiting: list[Mapping[str, Elements]] = [part for row, part in parts if row.state == HeldBack.State.WAITING]
    return [*waiting, *_hold_back_new(group, rests, displaced, running, asked, seen)] if rests or displaced else waiting


def _hold_back_new(
    group: GatewayGroup,
    rests: Mapping[ObjectKind, ServiceRemoval],
    displaced: list[ServiceRemoval],
    running: Ruleset,
    asked: Ruleset,
    seen: str,
) -> list[Mapping[str, Elements]]:
    """Hold back what exceeds the limits together with what went out within the last hour, and with what is displaced now."""
    recent = removal_ledger.list_recent_losses(group, asked.elements)
    before = [*recent, *(removal.elements for removal in displaced)]
    wait, go = split_removals(rests, before, running.elements, build_limits(group))
    for removal in wait:
        _create_held_back(group, removal, running, seen, before)
    removal_ledger.record_losses(group, [*displaced, *go], recent)
    return [removal.elements for removal in wait]


def build_limits(group: GatewayGroup) -> RemovalLimits:
    """Return the group's limits above which removals need approval."""
    return RemovalLimits(group.removal_share, group.removal_least)


def pick_earlier_snapshot(one: str, other: str | None) -> str:
    """Return the read of the database that saw less; each is "xmin:xmax:running"."""
    return other if other and int(other.split(":")[0]) < int(one.split(":")[0]) else one


def _is_current(row: HeldBack, removal: ServiceRemoval | None, part: RulesetPart) -> bool:
    """True if every element of the row's part is still to be removed, or still to come, and can wait if it has to."""
    if removal is None or not all(elements.keys() <= removal.elements.get(name, {}).keys() for name, elements in part.items()):
        return False
    waits = row.state == HeldBack.State.WAITING
    return not (waits and any(elements.keys() & removal.displaced.get(name, {}).keys() for name, elements in part.items()))


def _close_row(row: HeldBack) -> None:
    """Close a row as done if it was approved, which means that its part is gone from the gateways; else as obsolete."""
    done = HeldBack.State.DONE if row.state == HeldBack.State.APPROVED else HeldBack.State.OBSOLETE
    HeldBack.objects.filter(pk=row.pk, state=row.state).update(state=done)


def _create_held_back(
    group: GatewayGroup, removal: ServiceRemoval, running: Ruleset, seen: str, recent: Iterable[Mapping[str, Elements]]
) -> None:
    row = HeldBack.objects.create(
        group=group,
        kind=removal.kind,
        digest=removal.digest,
        removed=removal.removed,
        of=removal.of,
        packed=pack_part(removal.elements),
        text=render_part(removal.elements, running),
        baseline=seen,
        earlier=count_removed_by_other_parts(removal.elements, recent, running.elements),
    )
    record_requesters(row, compute_requesters(row))


def render_part(part: Mapping[str, Elements], running: Ruleset) -> str:
    """Render the part as nft text, truncated."""
    changes = {}
    for name, elements in part.items():
        bare = name.removeprefix(ADDITION_PREFIX)
        of = running.sets.get(bare) or declare(bare, len(elements))
        changes[bare] = ElementChange(of, elements, {}) if bare == name else ElementChange(of, {}, elements)
    return render_delta(Delta(elements=changes), now=int(timezone.now().timestamp()))[:SHOWN_DELTA]


# --- Requesters


def compute_requesters(row: HeldBack) -> Requesters:
    """Return all users who wrote what the row is about, up to now."""
    if row.kind == MANAGEMENT:
        return requesters.compute_gateway_requesters(unpack_management_change(row), row.baseline)
    if row.kind in SPECIAL:
        return Requesters(frozenset(row.askers.values_list("pk", flat=True)), row.asker_unknown)
    things = effects.merge_port_ranges(effects.iter_affected_things(unpack_part(row.packed)))
    return requesters.compute_object_requesters(ObjectKind(row.kind), things, row.baseline)


def record_requesters(row: HeldBack, found: Requesters) -> None:
    """Add these askers to those that the row already has."""
    row.askers.add(*found.users)
    if found.unknown and not row.asker_unknown:
        HeldBack.objects.filter(pk=row.pk).update(asker_unknown=True)
        row.asker_unknown = True


# --- Management


def unpack_management_change(row: HeldBack) -> dict[str, list[dict[str, Any]]]:
    """Return the management settings before and after, by gateway name."""
    found: dict[str, list[dict[str, Any]]] = unpack_values(row.packed)
    return found


@compile_once
def _read_management_alive(group: int) -> QuerySet[HeldBack]:
    return HeldBack.objects.filter(group_id=group, kind=MANAGEMENT, state__in=HeldBack.ALIVE)


@transaction.atomic
def _hold_back_management(group: GatewayGroup, wanted: DesiredState, before: RunningState) -> dict[int, GatewaySpec]:
    """Return gateways with their old management settings, for those of which the change waits for approval."""
    was = map_running_management(before)
    changed = {pk: (was[pk], gateway) for pk, gateway in wanted.gateways.items() if pk in was and was[pk] != build_management(gateway)}
    changed = _accept_ports_of_new_machines(changed)
    rows = _read_management_alive(group.pk)
    asked = {now.name: [old, build_management(now)] for old, now in changed.values()}
    if asked and any(_is_rest_of(unpack_management_change(row), asked, wanted) for row in rows if row.state == HeldBack.State.APPROVED):
        return {}
    named = digest_values(asked)
    seen = before.newest.seen
    for pk in changed.keys() & before.confirmed.keys():
        seen = pick_earlier_snapshot(seen, before.confirmed[pk].seen)
    for row in (each for each in rows if each.digest != named):
        _close_row(row)
        seen = pick_earlier_snapshot(seen, row.baseline)
    if not changed:
        return {}
    row, created = HeldBack.objects.get_or_create(
        group=group,
        kind=MANAGEMENT,
        digest=named,
        state__in=HeldBack.ALIVE,
        defaults={
            "removed": len(changed),
            "of": len(wanted.gateways),
            "packed": pack_values(asked),
            "text": _render_management(asked),
            "baseline": seen,
        },
    )
    if created:
        record_requesters(row, compute_requesters(row))
    if row.state == HeldBack.State.APPROVED:  # by somebody at this very moment
        return {}
    return {pk: _revert_management(now, old) for pk, (old, now) in changed.items()}


def _is_rest_of(change: Mapping[str, list[dict[str, Any]]], asked: Mapping[str, list[dict[str, Any]]], wanted: DesiredState) -> bool:
    """True if what is asked for is the change as far as gateways have not got it yet, and the change is still wanted for all others."""
    if any(change.get(name) != settings for name, settings in asked.items()):
        return False
    now = map_management_by_name(wanted)
    return all(new == now.get(name, new) for name, (_old, new) in change.items())


type ManagementChanges = dict[int, tuple[dict[str, Any], GatewaySpec]]  # settings before, and the gateway, by its id


def _accept_ports_of_new_machines(changed: ManagementChanges) -> ManagementChanges:
    """Return the changes without ports of machines that have confirmed nothing: such a machine has never been reached at another port."""
    moved = [pk for pk, (old, now) in changed.items() if old["port"] != now.management.port]
    if not moved:
        return changed
    known = set(GatewayState.objects.filter(gateway__in=moved).exclude(revision=None).values_list("gateway", flat=True))
    new = {pk: (changed[pk][0] | {"port": changed[pk][1].management.port}, changed[pk][1]) for pk in moved if pk not in known}
    return {pk: (old, now) for pk, (old, now) in (changed | new).items() if old != build_management(now)}


def digest_values(data: Any) -> str:
    """Return a digest of these plain values."""
    return blake2b(dumps(data, sort_keys=True).encode(), digest_size=32).hexdigest()


def map_management_by_name(wanted: DesiredState) -> dict[str, Any]:
    """Return the management settings of all gateways by name, as a revision stores them."""
    return {gateway.name: build_management(gateway) for gateway in wanted.gateways.values()}


def map_management_by_gateway(revision: Revision) -> dict[int, dict[str, Any]]:
    """Return the management settings that the revision stores, by gateway id: a gateway may have been renamed since."""
    known = revision.gateways
    return {known[name]: settings for name, settings in revision.management.items() if name in known}


def map_running_management(before: RunningState) -> dict[int, dict[str, Any]]:
    """Return the management settings that each gateway has confirmed, by id; of one that has confirmed nothing, the newest revision's."""
    own = {pk: map_management_by_gateway(state.revision) for pk, state in before.confirmed.items()}
    return map_management_by_gateway(before.newest.revision) | {pk: settings[pk] for pk, settings in own.items() if pk in settings}


def build_management(gateway: GatewaySpec) -> dict[str, Any]:
    """Return the settings that let administrators reach the gateway itself."""
    sources = [*map(format_prefix, gateway.management.sources)]
    return {"interface": gateway.interfaces.management, "port": gateway.management.port, "from": sources}


def _render_management(asked: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    lines = []
    for name, (old, new) in asked.items():
        lines += [f"{name}: {field}: {old[field]} -> {new[field]}" for field in old if old[field] != new[field]]
    return "\n".join(lines)


def _revert_management(now: GatewaySpec, old: Mapping[str, Any]) -> GatewaySpec:
    management = Management(tuple(map(ip_network, old["from"])), old["port"])
    return replace(now, management=management, interfaces=replace(now.interfaces, management=old["interface"]))


# --- Applying what waits


def _keep_waiting_parts(
    wanted: DesiredState, waiting: Iterable[Mapping[str, Elements]], management: Mapping[int, GatewaySpec]
) -> DesiredState:
    parts = list(waiting)
    gateways = {pk: management.get(pk, gateway) for pk, gateway in wanted.gateways.items()}
    rulesets = {
        pk: drop_expired(assemble_ruleset(gateways[pk], hold_back_parts(ruleset.elements, parts)), wanted.snapshot.now)
        for pk, ruleset in wanted.rulesets.items()
    }
    digests = {pk: digest_ruleset(ruleset) for pk, ruleset in rulesets.items()}
    targets = {pk: format_digest(value) for pk, value in digests.items()}
    return replace(wanted, gateways=gateways, rulesets=rulesets, digests=digests, targets=targets, deltas={})
