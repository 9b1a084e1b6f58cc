"""Services that write IPv6 pinholes. Every refusal names both sides.

When a member's prefix changes, its pinholes move to the same interface id in the new prefix, or end if the caller asks for that.
"""

from datetime import datetime
from ipaddress import IPv6Address, IPv6Network

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import is_valid_now, make_range_from_now, make_range_until_now
from apps.lib.enqueue import enqueue_reconcile
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address, Prefix
from apps.nat.expiry_dates import EndSentinel, Until, build_end_update, check_end, find_original_end
from apps.nat.pinholes.models import ALL_PORTS, Pinhole
from apps.nat.pinholes.selectors import find_overlapping
from apps.network.models import Holding, Pool
from apps.network.services import assign_address, lock_holdings, release_holding


def add_pinhole(
    *,
    holding: Holding,
    address: Address,
    protocol: str,
    port: int = 0,
    ports: int = 1,
    purpose: str = "",
    until: datetime | None = None,
    enabled: bool = True,
    by: User,
) -> Pinhole:
    """Add a pinhole from now on: `ports` ports of a protocol from `port` on, all of its ports (port 0), or everything (protocol "all").

    Raises Problem when a part of it is open already, or the address is not in the member's prefix.
    """
    ports = _validate_ports(protocol, port, ports)
    _check_address(holding, address)
    check_end(until)
    try:
        with transaction.atomic():
            lock_holdings(holding.pk)
            pinhole = _create(holding, address, protocol, port, ports, purpose, until, enabled=enabled)
            enqueue_reconcile(holding.group_id, by=by.pk)
    except IntegrityError as error:
        _check_address(holding, address)
        raise _explain(error, address, protocol, port, ports) from error
    pinhole.refresh_from_db()
    return pinhole


def change_pinhole(
    *,
    pinhole: Pinhole,
    version: int,
    address: Address,
    protocol: str,
    port: int,
    ports: int,
    purpose: str,
    enabled: bool,
    until: Until = EndSentinel.UNCHANGED,
    by: User,
) -> Pinhole:
    """Change what a pinhole opens, whether it is on, and when it ends. Raises Conflict when it was changed since `version`, Problem as
    `add_pinhole` does.
    """
    ports = _validate_ports(protocol, port, ports)
    _check_address(pinhole.holding, address)
    current = Pinhole.objects.filter(is_valid_now(), pk=pinhole.pk, version=version)
    given = {"address": address, "protocol": protocol, "port": port, "ports": ports, "purpose": purpose.strip(), "enabled": enabled}
    given |= build_end_update(until, pinhole)
    try:
        with transaction.atomic():
            if not current.update(**given, version=F("version") + 1):
                text = _(
                    "This pinhole was changed or removed by someone else while you were editing. Look at it as it is now, then save again."
                )
                raise Conflict(text)
            enqueue_reconcile(pinhole.group_id, by=by.pk)
    except IntegrityError as error:
        raise _explain(error, address, protocol, port, ports, but=pinhole.pk) from error
    pinhole.refresh_from_db()
    return pinhole


def switch_pinhole(*, pinhole: Pinhole, version: int, enabled: bool, by: User) -> Pinhole:
    """Switch a pinhole on or off; while it is off, no other pinhole can open the same."""
    return change_pinhole(
        pinhole=pinhole,
        version=version,
        address=pinhole.address,
        protocol=pinhole.protocol,
        port=pinhole.port,
        ports=pinhole.ports,
        purpose=pinhole.purpose,
        enabled=enabled,
        by=by,
    )


def remove_pinhole(*, pinhole: Pinhole, by: User) -> None:
    """End a pinhole now; its history stays. Ending it twice is harmless."""
    with transaction.atomic():
        Pinhole.objects.filter(is_valid_now(), pk=pinhole.pk).update(valid=make_range_until_now(), version=F("version") + 1)
        enqueue_reconcile(pinhole.group_id, by=by.pk)


def restore_pinhole(*, pinhole: Pinhole, by: User) -> Pinhole:
    """Add an ended pinhole again, from now on: with its planned end, and switched off if it was. Raises Problem when that end has passed,
    or a part of it was opened meanwhile.
    """
    return add_pinhole(
        holding=pinhole.holding,
        address=pinhole.address,
        protocol=pinhole.protocol,
        port=pinhole.port,
        ports=pinhole.ports,
        purpose=pinhole.purpose,
        until=find_original_end(pinhole),
        enabled=pinhole.enabled,
        by=by,
    )


def move_pinholes(*, old: Holding, new: Holding, by: User) -> list[Pinhole]:
    """Move a member's open pinholes from one prefix to another, to the same interface ids: all or nothing.

    Raises Problem when an address does not fit into the new prefix, or something is open there already.
    """
    if old.member_id != new.member_id:
        raise Problem(_("%(new)s is not held by %(member)s.") % {"new": new, "member": old.member}, culprit=new)
    with transaction.atomic():
        lock_holdings(old.pk, new.pk)
        moving = Pinhole.objects.select_for_update(of=("self",)).filter(is_valid_now(), holding=old)
        moved = [_build_moved(pinhole, old, new) for pinhole in moving.order_by("id")]
        moving.update(valid=make_range_until_now(), version=F("version") + 1)
        enqueue_reconcile(old.group_id, new.group_id, by=by.pk)
    return moved


def replace_member_prefix(*, holding: Holding, follow: bool, by: User, pool: Pool | None = None) -> Holding:
    """Replace the member's prefix by another one of `pool`, or of the same pool. follow: pinholes move there; otherwise they end.

    Raises Problem when the pool is full.
    """
    with transaction.atomic():
        new = assign_address(member=holding.member, pool=pool or holding.pool, device=holding.device, by=by)
        if follow:
            move_pinholes(old=holding, new=new, by=by)
        release_holding(holding=holding, by=by)
    return new


def _create(
    holding: Holding, address: Address, protocol: str, port: int, ports: int, purpose: str, until: datetime | None, *, enabled: bool
) -> Pinhole:
    return Pinhole.objects.create(
        holding=holding,
        group_id=holding.group_id,
        held=holding.valid,
        prefix=holding.prefix,
        address=address,
        protocol=protocol,
        port=port,
        ports=ports,
        purpose=purpose.strip(),
        enabled=enabled,
        valid=make_range_from_now(until),
    )


def _build_moved(pinhole: Pinhole, old: Holding, new: Holding) -> Pinhole:
    address = _keep_interface_id(pinhole.address, old.prefix, new.prefix)
    of = (pinhole.protocol, pinhole.port, pinhole.ports)
    try:
        with transaction.atomic():
            return _create(new, address, *of, pinhole.purpose, pinhole.valid.upper, enabled=pinhole.enabled)
    except IntegrityError as error:
        raise _explain(error, address, *of) from error


def _keep_interface_id(address: IPv6Address, old: IPv6Network, new: IPv6Network) -> IPv6Address:
    """Return the address in the new prefix with the same offset as in the old one."""
    offset = int(address) - int(old.network_address)
    if offset >= new.num_addresses:
        text = _("%(address)s does not fit into %(prefix)s, which is smaller than %(old)s. Change or remove its pinhole first.")
        raise Problem(text % {"address": address, "prefix": new, "old": old}, culprit=address)
    return new.network_address + offset


def _validate_ports(protocol: str, port: int, ports: int) -> int:
    """Return the number of ports as the database has it: ALL_PORTS if port is 0. Raises Problem for ports that are not possible."""
    if protocol not in Pinhole.Protocol.values:
        raise Problem(_("“%(protocol)s” is not a valid protocol. Choose tcp, udp or all.") % {"protocol": protocol}, "protocol")
    if port == 0:
        return ALL_PORTS
    if protocol == Pinhole.Protocol.ALL:
        raise Problem(_("The protocol “everything” has no ports. Leave the port empty, or choose TCP or UDP."), "port")
    if not 0 < port < 65536:
        raise Problem(_("%(port)d is not a port. Choose 1 to 65535.") % {"port": port}, "port")
    facts = {"ports": ports, "port": port, "last": 65536 - ports, "most": Pinhole.MOST_PORTS}
    if not 0 < ports <= Pinhole.MOST_PORTS:
        text = _("%(ports)d ports are too many for one pinhole. Choose 1 to %(most)d, or leave the port empty for all.")
        raise Problem(text % facts, "port")
    if port + ports > 65536:
        raise Problem(_("%(ports)d ports from %(port)d on go beyond 65535. Begin at %(last)d or lower.") % facts, "port")
    return ports


def _check_address(holding: Holding, address: Address) -> None:
    facts = {"address": address, "prefix": holding.prefix, "member": holding.member}
    if holding.kind != Pool.Kind.PREFIX6:
        raise Problem(_("%(prefix)s is not an IPv6 prefix. Open IPv4 ports with port forwards.") % facts, "holding")
    if not Holding.objects.filter(is_valid_now(), pk=holding.pk).exists():
        raise Problem(_("%(member)s does not hold %(prefix)s any more.") % facts, "holding", culprit=holding)
    if not _is_inside(address, holding.prefix):
        raise Problem(_("%(address)s is not in %(prefix)s, which %(member)s holds.") % facts, "address", culprit=holding)


def _is_inside(address: Address, prefix: Prefix) -> bool:
    return isinstance(address, IPv6Address) and isinstance(prefix, IPv6Network) and address in prefix


def _explain(error: IntegrityError, address: Address, protocol: str, port: int, ports: int, *, but: int | None = None) -> Problem:
    """Return the Problem for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    if "pinhole_open_already" not in str(error):
        raise error
    holder = find_overlapping(address, protocol, port, ports, but=but)
    if holder is None:
        return Problem(_("Part of this was just opened by another pinhole. Save again."), "port")
    facts = {"what": holder.scope_text, "address": address, "id": holder.pk}
    text = _("%(what)s is already open on %(address)s through pinhole %(id)d. Change or remove that one first.")
    if not holder.enabled:
        text = _(
            "%(what)s on %(address)s is reserved for pinhole %(id)d, which is switched off. Switch it on, change it or remove it first."
        )
    return Problem(text % facts, "port", culprit=holder)
