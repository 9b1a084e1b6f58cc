"""Write services for listeners and for the interfaces behind which servers stand.

Refusals name both sides; every write starts a reconciliation with the gateways after its commit.
"""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.listeners.models import Listener, ServerInterface
from apps.lib.database.constraint_violations import find_violation_detail
from apps.lib.enqueue import enqueue_reconcile, enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address
from apps.network.held_interfaces import refuse_held_interface
from apps.network.models import Gateway, GatewayGroup
from firewall import names
from firewall.elements.listeners import SCALES
from firewall.policy import PolicyError


def add_listener(
    *,
    group: GatewayGroup,
    name: str,
    address: Address,
    protocol: str,
    port: int,
    guarded: bool = False,
    window_scale: int = 7,
    enabled: bool = True,
    note: str = "",
    by: User,
) -> Listener:
    """Add a listener. Raises Problem if the port is taken, the values are not valid, or the listener cannot be guarded."""
    given = _validate_listener(name, protocol, port) | _validate_guard(protocol, guarded, window_scale)
    given |= {"address": address, "note": note.strip(), "enabled": enabled}
    try:
        with transaction.atomic():
            made = Listener.objects.create(group=group, **given)
            enqueue_reconcile(group.pk, by=by.pk)
    except IntegrityError as error:
        raise _explain_integrity_error(error, address, protocol, port) from error
    made.refresh_from_db()
    return made


def change_listener(
    *,
    listener: Listener,
    version: int,
    name: str,
    address: Address,
    protocol: str,
    port: int,
    guarded: bool = False,
    window_scale: int = 7,
    enabled: bool,
    note: str,
    by: User,
) -> Listener:
    """Change all values of a listener. Raises Conflict if it changed since `version`, Problem like `add_listener`."""
    given = _validate_listener(name, protocol, port) | _validate_guard(protocol, guarded, window_scale)
    given |= {"address": address, "note": note.strip(), "enabled": enabled}
    try:
        with transaction.atomic():
            if not Listener.objects.filter(pk=listener.pk, version=version).update(version=F("version") + 1, **given):
                raise Conflict(_("This listener was changed or removed by someone else while you were editing. Look at it as it is now."))
            enqueue_reconcile(listener.group_id, by=by.pk)
    except IntegrityError as error:
        raise _explain_integrity_error(error, address, protocol, port) from error
    listener.refresh_from_db()
    return listener


def remove_listener(*, listener: Listener, by: User) -> None:
    """Remove a listener: its port is no longer open; its history stays. Removing it twice is harmless."""
    with transaction.atomic():
        Listener.objects.filter(pk=listener.pk).delete()
        enqueue_reconcile(listener.group_id, by=by.pk)


def set_server_facing_interface(*, gateway: Gateway, name: str, by: User | None) -> None:
    """Set the interface of the gateway behind which servers stand; "": the members' own. by: None for a command.

    Raises Problem if the gateway uses it otherwise.
    """
    name = name.strip()
    taken = {gateway.lan, gateway.wan, gateway.management, gateway.sync, gateway.probe_interface} - {""}
    if name in taken:
        raise Problem(_("%(gateway)s already uses %(name)s as another interface.") % {"name": name, "gateway": gateway}, "name")
    refuse_held_interface(gateway, name, "name")
    with transaction.atomic():
        if name:
            ServerInterface.objects.update_or_create(gateway=gateway, defaults={"name": _validate_interface(name)})
        else:
            ServerInterface.objects.filter(gateway=gateway).delete()
        enqueue_task("workers.reconcile", by and by.pk)


def _validate_interface(name: str) -> str:
    try:
        return names.validate_interface(name)
    except PolicyError as error:
        raise Problem(
            _("“%(name)s” is not an interface name. Use 1 to 15 letters, digits, _ . : @ or -.") % {"name": name}, "name"
        ) from error


def _validate_listener(name: str, protocol: str, port: int) -> dict[str, Any]:
    name = " ".join(name.split())
    if not name or len(name) > 60:
        raise Problem(_("A listener needs a name of up to 60 characters."), "name")
    if protocol not in Listener.Protocol.values:
        raise Problem(_("“%(protocol)s” has no ports. Choose tcp or udp.") % {"protocol": protocol}, "protocol")
    if not 0 < port < 65536:
        raise Problem(_("%(port)d is not a port. Choose 1 to 65535.") % {"port": port}, "port")
    return {"name": name, "protocol": protocol, "port": port}


def _validate_guard(protocol: str, guarded: bool, window_scale: int) -> dict[str, Any]:
    if guarded and protocol != Listener.Protocol.TCP:
        raise Problem(_("Only TCP has SYNs that gateways could answer. Choose TCP, or leave the SYN flood guard off."), "guarded")
    if window_scale not in SCALES:
        raise Problem(_("%(scale)d is not a window scale. Choose 0 to 14.") % {"scale": window_scale}, "window_scale")
    return {"guarded": guarded, "window_scale": window_scale}


def _explain_integrity_error(error: IntegrityError, address: Address, protocol: str, port: int) -> Problem:
    """Return the sentence for a refusal by the database.

    A violation of any other constraint is a fault of the portal, and raised unchanged.
    """
    facts: dict[str, Any] = {"protocol": protocol.upper(), "port": port, "address": address}
    if "listener_once" in str(error):
        there = Listener.objects.filter(address=address, protocol=protocol, port=port).first()
        text = _("“%(name)s” already listens on %(protocol)s %(port)d of %(address)s.")
        return Problem(text % (facts | {"name": there.name if there else ""}), "port", culprit=there)
    if pool := find_violation_detail(error, "listener_outside_pools"):
        text = _("%(address)s is in the members' pool %(pool)s. A server needs an address outside of it.")
        return Problem(text % (facts | {"pool": pool}), "address")
    if forward := find_violation_detail(error, "listener_beside_forwards"):
        text = _(
            "%(protocol)s %(port)d on %(address)s is already the public side of port forward %(forward)s. Choose "
            "another port, or close the forward."
        )
        return Problem(text % (facts | {"forward": forward}), "port")
    raise error
