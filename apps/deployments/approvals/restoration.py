"""Undoes held-back changes: restores the rows that a part is about, through the same services that users call.

A removed forward is opened again, a departed member is activated again, a block is lifted. What cannot be restored is named with
the reason.
"""

from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from django.apps import apps
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans import allow_list
from apps.bans.blocks import services as blocks
from apps.bans.listeners.models import Listener
from apps.bans.listeners.services import add_listener
from apps.bans.models import AllowEntry, Ban, BanList
from apps.bans.services import ban_prefix, change_list, lift_many
from apps.deployments.approvals import effects
from apps.deployments.approvals.approval_gate import unpack_management
from apps.deployments.approvals.effects import AffectedThing
from apps.deployments.approvals.kinds import MANAGEMENT, SPECIAL
from apps.deployments.approvals.part_codec import unpack_part
from apps.deployments.models import HeldBack
from apps.lib.database.validity import holds_now
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.members.services import activate
from apps.nat.models import NatMapping, PortForward
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.services import restore_pinhole, switch_pinhole
from apps.nat.services import add_forward, change_forward, map_address, restore_forward
from apps.network.models import Gateway, Holding
from apps.network.services import assign_address
from firewall.sets import ObjectKind

MOST_NAMED: Final = 20  # things that cannot be restored


def restore(held: HeldBack, *, by: User) -> list[str]:
    """Undo exactly what waits. Return a text for each thing that could not be undone."""
    if held.kind == MANAGEMENT:
        return _restore_management(held)
    if held.kind in SPECIAL:
        return []  # nothing has been written yet
    things = list(effects.merge_port_ranges(effects.iter_things(unpack_part(held.packed))))
    work = _RESTORE[ObjectKind(held.kind)]
    return [words for thing in things if (words := _try_restore(work, thing, by))][:MOST_NAMED]


def _try_restore(work: Callable[[AffectedThing, User], None], thing: AffectedThing, by: User) -> str:
    """Restore one thing in its own transaction, so that a failure (it may be taken meanwhile) does not affect the others."""
    try:
        with transaction.atomic():
            work(thing, by)
    except Problem as problem:
        return f"{thing.words}: {problem}"
    return ""


def _restore_management(held: HeldBack) -> list[str]:
    for name, (old, _new) in unpack_management(held).items():
        given = {"management": old["interface"], "management_port": old["port"], "management_networks": [*map(ip_network, old["from"])]}
        Gateway.objects.filter(name=name).update(version=F("version") + 1, **given)
    return []


# --- Members' access


def _restore_access(thing: AffectedThing, by: User) -> None:
    _restore_holding(thing.prefix, by)


def _restore_holding(prefix: str, by: User) -> Holding:
    """Assign the prefix to its last holder again, as an active member."""
    last = Holding.objects.filter(prefix=ip_network(prefix)).select_related("member", "pool", "device").order_by("-valid", "-pk").first()
    if last is None:
        raise Problem(_("The member who held it is not known."))
    if last.member.state != Member.State.ACTIVE:
        activate(member=last.member, by=by)
        last.member.refresh_from_db()
    if Holding.objects.filter(holds_now(), pk=last.pk).exists():
        return last
    return assign_address(member=last.member, pool=last.pool, prefix=last.prefix, device=last.device, by=by)


def _restore_mapping(thing: AffectedThing, by: User) -> None:
    holding = _restore_holding(thing.prefix, by)
    if not NatMapping.objects.filter(holds_now(), holding=holding).exists():
        map_address(holding=holding, public=ip_address(thing.public), by=by)


def _lift_block(thing: AffectedThing, by: User) -> None:
    """Lift the blocks of the members who hold the prefix; if there are none, lift the ban that covers them."""
    holders = Member.objects.filter(holdings__in=Holding.objects.filter(holds_now(), prefix=ip_network(thing.prefix)))
    lifted = blocks.unblock_members(members=holders, by=by)
    if not lifted:
        lift_many(bans=list(Ban.objects.filter(prefix=ip_network(thing.prefix)).values_list("pk", flat=True)), by=by)


# --- Openings


def _restore_forwards(thing: AffectedThing, by: User) -> None:
    """Restore all forwards with ports in the thing's range."""
    _restore_holding(thing.prefix, by)
    last, first = thing.port + thing.number - 1, thing.port
    rows = PortForward.objects.filter(public=ip_address(thing.public), protocol=thing.protocol, holding__prefix=ip_network(thing.prefix))
    near = rows.filter(public_port__lte=last, public_port__gt=first - PortForward.MOST_PORTS).select_related("holding").order_by("-pk")
    found = _pick_newest(row for row in near if row.last_port >= first)
    if not found:
        _recreate_forward(thing, by)
    for row in found:
        _restore_forward(row, by)


def _pick_newest(rows: Iterable[PortForward]) -> list[PortForward]:
    """Return the newest rows that do not overlap in ports; `rows` comes newest first."""
    found: list[PortForward] = []
    for row in rows:
        if not any(row.public_port <= each.last_port and each.public_port <= row.last_port for each in found):
            found.append(row)
    return found


def _restore_forward(row: PortForward, by: User) -> None:
    if not PortForward.objects.filter(holds_now(), pk=row.pk).exists():
        row.holding = _restore_holding(str(row.holding.prefix), by)
        restore_forward(forward=row, by=by)
    elif not row.enabled:
        change_forward(forward=row, version=row.version, private_port=row.private_port, purpose=row.purpose, enabled=True, by=by)


def _recreate_forward(thing: AffectedThing, by: User) -> None:
    """Create a forward of which the row was deleted, from its last event."""
    events = apps.get_model("nat", "PortForwardEvent")._default_manager.filter(public=ip_address(thing.public), protocol=thing.protocol)
    event: Any = events.filter(public_port__gte=thing.port, public_port__lt=thing.port + thing.number, pgh_label="delete")
    gone = {each.pgh_obj_id: each for each in event.order_by("pgh_id")}
    if not gone:
        raise Problem(_("The entry no longer exists, and was not found in the history."))
    for each in gone.values():
        holding = _restore_holding(thing.prefix, by)
        given = {name: getattr(each, name) for name in ("public", "protocol", "public_port", "private_port", "ports", "purpose")}
        add_forward(holding=holding, until=each.valid.upper, by=by, **given)


def _restore_pinholes(thing: AffectedThing, by: User) -> None:
    rows = Pinhole.objects.filter(address=ip_address(thing.prefix.partition("/")[0])).select_related("holding").order_by("-pk")
    protocol = thing.words.partition(" ")[0].lower() if " " in thing.words else "all"
    row = next((row for row in rows if row.protocol in (protocol, "all") and (not thing.port or row.port <= thing.port)), None)
    if row is None:
        raise Problem(_("The entry no longer exists, and was not found in the history."))
    row.holding = _restore_holding(str(row.prefix), by)
    if not Pinhole.objects.filter(holds_now(), pk=row.pk).exists():
        restore_pinhole(pinhole=row, by=by)
    elif not row.enabled:
        switch_pinhole(pinhole=row, version=row.version, enabled=True, by=by)


# --- Bans, allow list, listeners


def _restore_ban(thing: AffectedThing, by: User) -> None:
    there = Ban.objects.filter(prefix=ip_network(thing.prefix)).select_related("list").first()
    if there is None:
        event = _get_last_deleted("bans", "BanEvent", prefix=ip_network(thing.prefix))
        into = BanList.objects.filter(pk=event.list_id).first()
        if into is None:
            raise Problem(_("Its list was deleted. Import it again."))
        ban_prefix(list=into, prefix=event.prefix, comment=event.comment, expires=event.expires, direction=event.direction, author=by)
    elif not there.list.enabled:
        row = there.list
        change_list(list=row, version=row.version, name=row.name, description=row.description, enabled=True, by=by)


def _restore_allowed(thing: AffectedThing, by: User) -> None:
    if not AllowEntry.objects.filter(prefix=ip_network(thing.prefix)).exists():
        event = _get_last_deleted("bans", "AllowEntryEvent", prefix=ip_network(thing.prefix))
        allow_list.allow_prefix(prefix=event.prefix, comment=event.comment, expires=event.expires, author=by)


def _restore_listener(thing: AffectedThing, by: User) -> None:
    address = ip_address(thing.prefix.partition("/")[0])
    off = Listener.objects.filter(address=address, enabled=False)
    if off.exists():
        off.update(enabled=True, version=F("version") + 1)
        return
    event = _get_last_deleted("bans", "ListenerEvent", address=address)
    names = ("name", "address", "protocol", "port", "guarded", "window_scale", "note")
    add_listener(group=event.group, by=by, **{name: getattr(event, name) for name in names})


def _get_last_deleted(app: str, model: str, **where: Any) -> Any:
    event = apps.get_model(app, model)._default_manager.filter(pgh_label="delete", **where).order_by("-pgh_id").first()
    if event is None:
        raise Problem(_("The entry no longer exists, and was not found in the history."))
    return event


_RESTORE: Final[Mapping[ObjectKind, Callable[[AffectedThing, User], None]]] = {
    ObjectKind.ADDRESSES: _restore_access,
    ObjectKind.PREFIXES: _restore_access,
    ObjectKind.MAPPINGS: _restore_mapping,
    ObjectKind.BLOCKS: _lift_block,
    ObjectKind.FORWARDS: _restore_forwards,
    ObjectKind.PINHOLES: _restore_pinholes,
    ObjectKind.BANS: _restore_ban,
    ObjectKind.ALLOWED: _restore_allowed,
    ObjectKind.LISTENERS: _restore_listener,
}
