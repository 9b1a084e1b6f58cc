"""Undoes held-back changes: restores the rows that a part is about, through the same services that users call.

A removed forward is opened again, a departed member is activated again, a block is lifted. What cannot be restored is named with
the reason.
"""

from collections.abc import Callable
from ipaddress import ip_network
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import effects
from apps.deployments.approvals.approval_gate import unpack_management_change
from apps.deployments.approvals.kinds import MANAGEMENT, SPECIAL
from apps.deployments.approvals.part_codec import unpack_part
from apps.deployments.models import HeldBack
from apps.deployments.rule_kinds.kind import AffectedThing
from apps.deployments.rule_kinds.registry import get_removal_definition
from apps.lib.errors import Problem
from apps.network.models import Gateway
from firewall.sets import ObjectKind

MOST_NAMED: Final = 20  # things that cannot be restored


def undo_held_back_part(held: HeldBack, *, by: User) -> list[str]:
    """Undo exactly what waits. Return a text for each thing that could not be undone."""
    if held.kind == MANAGEMENT:
        return _restore_management(held)
    if held.kind in SPECIAL:
        return []  # nothing has been written yet
    things = list(effects.merge_port_ranges(effects.iter_affected_things(unpack_part(held.packed))))
    work = get_removal_definition(ObjectKind(held.kind)).restore
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
    """Set management back; what its interface has become by now keeps it, and the change waits again."""
    left = []
    for name, (old, _now) in unpack_management_change(held).items():
        given = {"management": old["interface"], "management_port": old["port"], "management_networks": [*map(ip_network, old["from"])]}
        there = Gateway.objects.select_related("server_interface").filter(name=name).first()
        if there and old["interface"] in _list_other_interfaces(there):
            words = _("%(gateway)s: %(name)s is another interface of it by now. Give that one another name first.")
            left.append(words % {"gateway": name, "name": old["interface"]})
        else:
            Gateway.objects.filter(name=name).update(version=F("version") + 1, **given)
    return left


def _list_other_interfaces(gateway: Gateway) -> set[str]:
    server = gateway.server_interface.name if hasattr(gateway, "server_interface") else ""
    return {gateway.lan, gateway.wan, gateway.sync, gateway.probe_interface, server} - {""}
