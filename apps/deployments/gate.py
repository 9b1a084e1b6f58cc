"""What goes out by itself, and what waits for a second person: removals beyond the group's limits, and any change of management.

In comes what the database asks for and what the gateways run; out comes what to deploy. What waits stays in the kernel as it
is, and is a row (`HeldBack`) with exactly the elements that it is about.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from ipaddress import ip_network
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.describing import SHOWN_DELTA
from apps.deployments.models import HeldBack, Revision
from apps.deployments.wanted import Wanted, way
from apps.network.models import GatewayGroup
from firewall.addresses import prefix_text
from firewall.blast import Limits, Removal, kept, removals, without
from firewall.codec import decode, encode
from firewall.compile import assemble
from firewall.diff import Delta, ElementChange
from firewall.digest import digest, text
from firewall.policy import Gateway, Management, PolicyError
from firewall.ranges import count_things
from firewall.render import render_delta
from firewall.ruleset import Elements, Ruleset, without_expired
from firewall.sets import Kind

MANAGEMENT = "management"

type Part = Mapping[str, Elements]


@dataclass(frozen=True, slots=True)
class Before:
    """What a gateway runs: the confirmed revision, and its ruleset; what is asked for is measured against it."""

    revision: Revision
    rulesets: Mapping[int, Ruleset]  # by gateway id


def through(group: GatewayGroup, wanted: Wanted, before: Before | None, *, by: int | None) -> Wanted:
    """What may be deployed now. A first load waits for nobody. Raises PolicyError for a network that has lost all its members."""
    running = _first(before.rulesets) if before else None
    asked = _first(wanted.rulesets)
    if before is None or running is None or asked is None:
        return wanted
    _refuse_an_empty_network(running, asked)
    gone = _gone(wanted, before)
    waiting = _removals_wait(group, gone, running, by=by) if gone or _alive(group) else []
    management = _management_waits(group, wanted, before, by=by)
    return _held(wanted, waiting, management) if waiting or management else wanted


def _first(rulesets: Mapping[int, Ruleset]) -> Ruleset | None:
    return next(iter(rulesets.values()), None)


def _refuse_an_empty_network(running: Ruleset, asked: Ruleset) -> None:
    if _members(running) and not _members(asked):
        raise PolicyError(
            _("The database has no active member with an address, but the gateways serve %(n)d. This is not deployed.")
            % {"n": _members(running)}
        )


def _members(ruleset: Ruleset) -> int:
    return sum(len(elements) for name, elements in ruleset.elements.items() if name.startswith("up"))


def _gone(wanted: Wanted, before: Before) -> dict[Kind, Removal]:
    """Of the gateway that would lose most of each kind."""
    found: dict[Kind, Removal] = {}
    for pk, ruleset in wanted.rulesets.items():
        running = before.rulesets.get(pk)
        if running is None or running is ruleset:
            continue
        sizes = {name: len(elements) for name, elements in running.elements.items()}
        for kind, removal in removals(way(running, ruleset, wanted.deltas.get(pk)).elements, sizes, wanted.snapshot.now).items():
            if kind not in found or removal.removed > found[kind].removed:
                found[kind] = removal
    return found


# --- Removals


def _alive(group: GatewayGroup) -> list[HeldBack]:
    return list(HeldBack.objects.filter(group=group, state__in=HeldBack.ALIVE).exclude(kind=MANAGEMENT))


@transaction.atomic
def _removals_wait(group: GatewayGroup, gone: Mapping[Kind, Removal], running: Ruleset, *, by: int | None) -> list[Part]:
    """The parts that wait. Those that are no longer asked for as they were are closed; what is new and too much waits from now on."""
    limits = Limits(group.removal_share, group.removal_least)
    parts: dict[Kind, list[tuple[HeldBack, Part]]] = {}
    for row in _alive(group):
        part = unpacked(row)
        if _contains(gone.get(Kind(row.kind)), part):
            parts.setdefault(Kind(row.kind), []).append((row, part))
        else:
            _close(row)
    waiting = [part for rows in parts.values() for row, part in rows if row.state == HeldBack.State.WAITING]
    for kind, removal in gone.items():
        rest = without(removal, [part for _row, part in parts.get(kind, [])])
        if limits.exceeded(rest.removed, rest.of) and count_things(rest.elements) >= limits.least:
            _wait(group, rest, running, by=by)
            waiting.append(rest.elements)
    return waiting


def _contains(removal: Removal | None, part: Part) -> bool:
    """Is every element of the part still to be removed?"""
    return removal is not None and all(elements.keys() <= removal.elements.get(name, {}).keys() for name, elements in part.items())


def _close(row: HeldBack) -> None:
    """Approved and gone from the gateways, or no longer asked for."""
    done = HeldBack.State.DONE if row.state == HeldBack.State.APPROVED else HeldBack.State.OBSOLETE
    HeldBack.objects.filter(pk=row.pk, state=row.state).update(state=done)


def _wait(group: GatewayGroup, removal: Removal, running: Ruleset, *, by: int | None) -> None:
    changes = {name: ElementChange(running.sets[name], elements, {}) for name, elements in removal.elements.items()}
    HeldBack.objects.create(
        group=group,
        kind=removal.kind,
        digest=removal.digest,
        removed=removal.removed,
        of=removal.of,
        packed=_packed(encode(removal.elements)),
        text=render_delta(Delta(elements=changes), now=int(timezone.now().timestamp()))[:SHOWN_DELTA],
        asked_by_id=by,
    )


def _packed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 1)


def unpacked(row: HeldBack) -> dict[str, Elements]:
    """The elements that a held-back removal is about."""
    data = json.loads(zlib.decompress(row.packed))
    parts: dict[str, Elements] = decode(dict[str, Elements], data, "held back")
    return parts


# --- Management


@transaction.atomic
def _management_waits(group: GatewayGroup, wanted: Wanted, before: Before, *, by: int | None) -> dict[int, Gateway]:
    """The gateways whose management stays as it is for now, as they are to be compiled."""
    was = before.revision.management
    changed = {
        pk: (was[gateway.name], gateway)
        for pk, gateway in wanted.gateways.items()
        if gateway.name in was and was[gateway.name] != management_of(gateway)
    }
    rows = HeldBack.objects.filter(group=group, kind=MANAGEMENT, state__in=HeldBack.ALIVE)
    asked = {now.name: [old, management_of(now)] for old, now in changed.values()}
    named = blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=32).hexdigest()
    for row in rows.exclude(digest=named):
        _close(row)
    if not changed:
        return {}
    row, _created = HeldBack.objects.get_or_create(
        group=group,
        kind=MANAGEMENT,
        digest=named,
        state__in=HeldBack.ALIVE,
        defaults={"removed": len(changed), "of": len(wanted.gateways), "packed": _packed(asked), "text": _lines(asked), "asked_by_id": by},
    )
    if row.state == HeldBack.State.APPROVED:
        return {}
    return {pk: _as_before(now, old) for pk, (old, now) in changed.items()}


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


def _held(wanted: Wanted, waiting: list[Part], management: Mapping[int, Gateway]) -> Wanted:
    gateways = {pk: management.get(pk, gateway) for pk, gateway in wanted.gateways.items()}
    rulesets = {
        pk: without_expired(assemble(gateways[pk], kept(ruleset.elements, waiting)), wanted.snapshot.now)
        for pk, ruleset in wanted.rulesets.items()
    }
    digests = {pk: digest(ruleset) for pk, ruleset in rulesets.items()}
    targets = {pk: text(value) for pk, value in digests.items()}
    return replace(wanted, gateways=gateways, rulesets=rulesets, digests=digests, targets=targets, deltas={})
