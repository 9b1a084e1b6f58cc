"""What goes out by itself, and what waits for a second person: removals beyond the group's limits, and any change of management.

In comes what the database asks for and what the gateways run; out comes what to deploy. What waits stays in the kernel as it
is, and is a row (`HeldBack`) with exactly the elements that it is about, and everybody who asked for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from ipaddress import ip_network
from json import dumps
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.approvals import effects, removal_ledger, requesters
from apps.deployments.approvals.kinds import MANAGEMENT, SPECIAL
from apps.deployments.approvals.part_codec import Part, pack, pack_part, unpack, unpack_part
from apps.deployments.approvals.requesters import Askers
from apps.deployments.desired_state.desired_rulesets import Change, Wanted, way
from apps.deployments.models import HeldBack, Revision
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.network.models import GatewayGroup
from firewall.addresses import prefix_text
from firewall.blast_radius import COMING, Limits, Removal, count_along, cutoffs, judge, kept, removals, without
from firewall.compile import assemble
from firewall.diff import Delta, ElementChange
from firewall.digest import digest, text
from firewall.policy import Gateway, Management, PolicyError
from firewall.render import render_delta
from firewall.ruleset import Elements, Ruleset, without_expired
from firewall.sets import Kind, declare


@dataclass(frozen=True, slots=True)
class Before:
    """What a gateway runs: the confirmed revision, and its ruleset; what is asked for is measured against it.

    seen: the read of the database to which that is true: whoever wrote since then asked for what differs.
    """

    revision: Revision
    rulesets: Mapping[int, Ruleset]  # by gateway id
    seen: str


def through(group: GatewayGroup, wanted: Wanted, before: Before | None) -> Wanted:
    """What may be deployed now. A first load waits for nobody. Raises PolicyError for a network that has lost all its members."""
    running = first_ruleset(before.rulesets) if before else None
    asked = first_ruleset(wanted.rulesets)
    if before is None or running is None or asked is None:
        return wanted
    _refuse_an_empty_network(running, asked)
    gone = find_removals(wanted.rulesets, before, wanted.snapshot.now, wanted.deltas)
    waiting = _removals_wait(group, gone, running, asked, before.seen) if gone or _alive(group) else []
    management = _management_waits(group, wanted, before)
    return _held(wanted, waiting, management) if waiting or management else wanted


def first_ruleset(rulesets: Mapping[int, Ruleset]) -> Ruleset | None:
    """Of any gateway of a group: their elements are the same."""
    return next(iter(rulesets.values()), None)


def _refuse_an_empty_network(running: Ruleset, asked: Ruleset) -> None:
    if _members(running) and not _members(asked):
        raise PolicyError(
            _("The database has no active member with an address, but the gateways serve %(n)d. This is not deployed.")
            % {"n": _members(running)}
        )


def _members(ruleset: Ruleset) -> int:
    return sum(len(elements) for name, elements in ruleset.elements.items() if name.startswith("up"))


def find_removals(rulesets: Mapping[int, Ruleset], before: Before, now: int, deltas: Mapping[int, Change]) -> dict[Kind, Removal]:
    """What takes service away, by kind, on the gateway that would lose most of each. deltas: the way there, where it is known."""
    found: dict[Kind, Removal] = {}
    for pk, ruleset in rulesets.items():
        running = before.rulesets.get(pk)
        if running is None or running is ruleset:
            continue
        for kind, removal in _removals_on(running, way(running, ruleset, deltas.get(pk)), now).items():
            if kind not in found or removal.removed > found[kind].removed:
                found[kind] = removal
    return found


def _removals_on(running: Ruleset, delta: Delta, now: int) -> dict[Kind, Removal]:
    sizes = {name: len(elements) for name, elements in running.elements.items()}
    found = removals(delta.elements, sizes, now)
    cut_off = cutoffs(delta.elements, running.elements)
    return found | {cut_off.kind: cut_off} if cut_off else found


# --- Removals


def _alive(group: GatewayGroup) -> list[HeldBack]:
    return list(HeldBack.objects.filter(group=group, state__in=HeldBack.ALIVE).exclude(kind__in=SPECIAL))


@transaction.atomic
def _removals_wait(
    group: GatewayGroup, gone: Mapping[Kind, Removal], running: Ruleset, asked: Ruleset, seen: str
) -> list[Mapping[str, Elements]]:
    """The parts that wait. Those that are no longer asked for as they were are closed; what is new and too much waits from now on."""
    parts: list[tuple[HeldBack, Part]] = []
    for row in _alive(group):
        part = unpack_part(row.packed)
        if _contains(gone.get(Kind(row.kind)), part):
            parts.append((row, part))
        else:
            _close(row)
            seen = earlier_read(seen, row.baseline)
    known = [part for _row, part in parts]
    rests = {kind: rest for kind, removal in gone.items() if (rest := without(removal, known, running.elements)).elements}
    waiting: list[Mapping[str, Elements]] = [part for row, part in parts if row.state == HeldBack.State.WAITING]
    return [*waiting, *_new_ones_wait(group, rests, running, asked, seen)] if rests else waiting


def _new_ones_wait(
    group: GatewayGroup, rests: Mapping[Kind, Removal], running: Ruleset, asked: Ruleset, seen: str
) -> list[Mapping[str, Elements]]:
    recent = removal_ledger.recent_losses(group, asked.elements)
    wait, go = judge(rests, recent, running.elements, limits_of(group))
    for removal in wait:
        _wait(group, removal, running, seen, recent)
    removal_ledger.note_losses(group, go, recent)
    return [removal.elements for removal in wait]


def limits_of(group: GatewayGroup) -> Limits:
    """Above what something waits in this group."""
    return Limits(group.removal_share, group.removal_least)


def earlier_read(one: str, other: str | None) -> str:
    """The read of the database that saw less; each is "xmin:xmax:running"."""
    return other if other and int(other.split(":")[0]) < int(one.split(":")[0]) else one


def _contains(removal: Removal | None, part: Part) -> bool:
    """Is every element of the part still to be removed, or to come?"""
    return removal is not None and all(elements.keys() <= removal.elements.get(name, {}).keys() for name, elements in part.items())


def _close(row: HeldBack) -> None:
    """Approved and gone from the gateways, or no longer asked for."""
    done = HeldBack.State.DONE if row.state == HeldBack.State.APPROVED else HeldBack.State.OBSOLETE
    HeldBack.objects.filter(pk=row.pk, state=row.state).update(state=done)


def _wait(group: GatewayGroup, removal: Removal, running: Ruleset, seen: str, recent: Iterable[Part]) -> None:
    row = HeldBack.objects.create(
        group=group,
        kind=removal.kind,
        digest=removal.digest,
        removed=removal.removed,
        of=removal.of,
        packed=pack_part(removal.elements),
        text=render_part(removal.elements, running),
        baseline=seen,
        earlier=count_along(removal.elements, recent, running.elements),
    )
    note_askers(row, askers_now(row))


def render_part(part: Mapping[str, Elements], running: Ruleset) -> str:
    """As nft text, cut."""
    changes = {}
    for name, elements in part.items():
        bare = name.removeprefix(COMING)
        of = running.sets.get(bare) or declare(bare, len(elements))
        changes[bare] = ElementChange(of, elements, {}) if bare == name else ElementChange(of, {}, elements)
    return render_delta(Delta(elements=changes), now=int(timezone.now().timestamp()))[:SHOWN_DELTA]


# --- Who asked


def askers_now(row: HeldBack) -> Askers:
    """Everybody who wrote what it is about, up to this moment."""
    if row.kind == MANAGEMENT:
        return requesters.askers_of_gateways(unpack_management(row), row.baseline)
    if row.kind in SPECIAL:
        return Askers(frozenset(row.askers.values_list("pk", flat=True)), row.asker_unknown)
    things = effects.in_ranges(effects.things(unpack_part(row.packed)))
    return requesters.askers_of(Kind(row.kind), things, row.baseline)


def note_askers(row: HeldBack, found: Askers) -> None:
    """They are kept with the row, besides those that it has."""
    row.askers.add(*found.users)
    if found.unknown and not row.asker_unknown:
        HeldBack.objects.filter(pk=row.pk).update(asker_unknown=True)
        row.asker_unknown = True


# --- Management


def unpack_management(row: HeldBack) -> dict[str, list[dict[str, Any]]]:
    """By gateway its management before and after."""
    found: dict[str, list[dict[str, Any]]] = unpack(row.packed)
    return found


@transaction.atomic
def _management_waits(group: GatewayGroup, wanted: Wanted, before: Before) -> dict[int, Gateway]:
    """The gateways whose management stays as it is for now, as they are to be compiled."""
    was = before.revision.management
    changed = {
        pk: (was[gateway.name], gateway)
        for pk, gateway in wanted.gateways.items()
        if gateway.name in was and was[gateway.name] != management_of(gateway)
    }
    rows = HeldBack.objects.filter(group=group, kind=MANAGEMENT, state__in=HeldBack.ALIVE)
    asked = {now.name: [old, management_of(now)] for old, now in changed.values()}
    named = digest_values(asked)
    seen = before.seen
    for row in rows.exclude(digest=named):
        _close(row)
        seen = earlier_read(seen, row.baseline)
    if not changed:
        return {}
    row, created = HeldBack.objects.get_or_create(
        group=group,
        kind=MANAGEMENT,
        digest=named,
        state__in=HeldBack.ALIVE,
        defaults={"removed": len(changed), "of": len(wanted.gateways), "packed": pack(asked), "text": _lines(asked), "baseline": seen},
    )
    if created:
        note_askers(row, askers_now(row))
    if row.state == HeldBack.State.APPROVED:
        return {}
    return {pk: _as_before(now, old) for pk, (old, now) in changed.items()}


def digest_values(data: Any) -> str:
    """A digest that stands for exactly these plain values."""
    return blake2b(dumps(data, sort_keys=True).encode(), digest_size=32).hexdigest()


def managements(wanted: Wanted) -> dict[str, Any]:
    """Of all gateways, by name, as a revision keeps it."""
    return {gateway.name: management_of(gateway) for gateway in wanted.gateways.values()}


def management_of(gateway: Gateway) -> dict[str, Any]:
    """What lets people reach the gateway itself."""
    sources = [*map(prefix_text, gateway.management.sources)]
    return {"interface": gateway.interfaces.management, "port": gateway.management.port, "from": sources}


def _lines(asked: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    lines = []
    for name, (old, new) in asked.items():
        lines += [f"{name}: {field}: {old[field]} -> {new[field]}" for field in old if old[field] != new[field]]
    return "\n".join(lines)


def _as_before(now: Gateway, old: Mapping[str, Any]) -> Gateway:
    management = Management(tuple(map(ip_network, old["from"])), old["port"])
    return replace(now, management=management, interfaces=replace(now.interfaces, management=old["interface"]))


# --- What is left


def _held(wanted: Wanted, waiting: Iterable[Mapping[str, Elements]], management: Mapping[int, Gateway]) -> Wanted:
    parts = list(waiting)
    gateways = {pk: management.get(pk, gateway) for pk, gateway in wanted.gateways.items()}
    rulesets = {
        pk: without_expired(assemble(gateways[pk], kept(ruleset.elements, parts)), wanted.snapshot.now)
        for pk, ruleset in wanted.rulesets.items()
    }
    digests = {pk: digest(ruleset) for pk, ruleset in rulesets.items()}
    targets = {pk: text(value) for pk, value in digests.items()}
    return replace(wanted, gateways=gateways, rulesets=rulesets, digests=digests, targets=targets, deltas={})
