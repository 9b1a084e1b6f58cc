"""Services that write port forwards and NAT mappings. Every refusal names both sides, and what would be possible instead."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.constraint_violations import find_violation_detail
from apps.lib.database.validity import is_valid_now, make_range_from_now, make_range_until_now
from apps.lib.enqueue import enqueue_reconcile
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address
from apps.lib.port_ranges import Span, format_port_range
from apps.nat import port_claims
from apps.nat.expiry_dates import EndSentinel, Until, build_end_update, check_end, find_original_end
from apps.nat.models import NatMapping, PortForward
from apps.nat.selectors import find_free_port, find_overlapping_forward
from apps.nat.snat_allocation import SnatPlace, find_snat_place, list_source_pools
from apps.network.models import Holding, Pool
from apps.network.probe_addresses import read_probed_gateways, refuse_probe_public
from apps.network.services import lock_holdings, lock_pools, refuse_retired


def add_forward(
    *,
    holding: Holding,
    public: Address,
    protocol: str,
    public_port: int,
    private_port: int,
    ports: int = 1,
    purpose: str = "",
    until: datetime | None = None,
    enabled: bool = True,
    by: User,
) -> PortForward:
    """Add a forward from now on: `ports` public ports from public_port on lead to the holding's ports from private_port on.

    Raises Problem when one of the ports is taken, or the public address is not in a public pool of the group.
    """
    check_ports(protocol, public_port, private_port, ports)
    check_holding(holding)
    check_end(until)
    try:
        with transaction.atomic():
            pool = _lock_public_pool(holding, public)
            lock_holdings(holding.pk)
            forward = PortForward.objects.create(
                holding=holding,
                group_id=holding.group_id,
                held=holding.valid,
                pool=pool,
                pool_prefix=pool.prefix,
                public=public,
                protocol=protocol,
                public_port=public_port,
                private_port=private_port,
                ports=ports,
                purpose=purpose.strip(),
                enabled=enabled,
                valid=make_range_from_now(until),
            )
            enqueue_reconcile(holding.group_id, by=by.pk)
    except IntegrityError as error:
        if port_claims.is_claim_violation(error):
            raise port_claims.build_claim_problem(holding, public, protocol, public_port, ports) from error
        check_holding(holding)
        raise _explain(error, public, protocol, public_port, ports) from error
    forward.refresh_from_db()
    return forward


def change_forward(
    *, forward: PortForward, version: int, private_port: int, purpose: str, enabled: bool, until: Until = EndSentinel.UNCHANGED, by: User
) -> PortForward:
    """Change where a forward leads, whether it is on and when it ends. Raises Conflict when it was changed since `version`."""
    check_ports(forward.protocol, forward.public_port, private_port, forward.ports)
    current = PortForward.objects.filter(is_valid_now(), pk=forward.pk, version=version)
    given = {"private_port": private_port, "purpose": purpose.strip(), "enabled": enabled} | build_end_update(until, forward)
    with transaction.atomic():
        if not current.update(**given, version=F("version") + 1):
            raise build_conflict()
        enqueue_reconcile(forward.group_id, by=by.pk)
    forward.refresh_from_db()
    return forward


def change_or_replace_forward(
    *,
    forward: PortForward,
    version: int,
    holding: Holding,
    public: Address,
    protocol: str,
    public_port: int,
    private_port: int,
    ports: int,
    purpose: str,
    until: Until = EndSentinel.UNCHANGED,
    by: User,
) -> PortForward:
    """Change anything of a forward but whether it is on.

    With another public side or holding, the forward ends now and a new one begins in its place, all or nothing, so that the history of
    each port stays complete. Raises Conflict and Problem as the other services do.
    """
    told: dict[str, object] = {"holding_id": holding.pk, "public": public, "protocol": protocol, "public_port": public_port, "ports": ports}
    if all(getattr(forward, name) == value for name, value in told.items()):
        facts = {"private_port": private_port, "purpose": purpose, "enabled": forward.enabled}
        return change_forward(forward=forward, version=version, **facts, until=until, by=by)  # type: ignore[arg-type]  # keyword arguments
    with transaction.atomic():
        lock_pools(forward.pool_id, get_public_pool(holding, public).pk)
        lock_holdings(forward.holding_id, holding.pk)
        if not PortForward.objects.filter(is_valid_now(), pk=forward.pk, version=version).update(
            valid=make_range_until_now(), version=F("version") + 1
        ):
            raise build_conflict()
        return add_forward(
            holding=holding,
            public=public,
            protocol=protocol,
            public_port=public_port,
            private_port=private_port,
            ports=ports,
            purpose=purpose,
            until=forward.valid.upper if until is EndSentinel.UNCHANGED else until,
            enabled=forward.enabled,
            by=by,
        )


def build_conflict() -> Conflict:
    return Conflict(
        _("This port forward was changed or removed by someone else while you were editing. Look at it as it is now, then save again.")
    )


def remove_forward(*, forward: PortForward, by: User) -> None:
    """End a forward now; its history stays. Ending it twice is harmless."""
    with transaction.atomic():
        PortForward.objects.filter(is_valid_now(), pk=forward.pk).update(valid=make_range_until_now(), version=F("version") + 1)
        enqueue_reconcile(forward.group_id, by=by.pk)


def restore_forward(*, forward: PortForward, by: User) -> PortForward:
    """Add an ended forward again, from now on: with its planned end, and switched off if it was. Raises Problem when that end has passed,
    or a port was taken meanwhile.
    """
    return add_forward(
        holding=forward.holding,
        public=forward.public,
        protocol=forward.protocol,
        public_port=forward.public_port,
        private_port=forward.private_port,
        ports=forward.ports,
        purpose=forward.purpose,
        until=find_original_end(forward),
        enabled=forward.enabled,
        by=by,
    )


def map_address(*, holding: Holding, public: Address | None = None, pool: Pool | None = None, by: User) -> NatMapping:
    """Map the holding to this public address from now on, instead of its mapping until now.

    Without an address: to the next free place of the pool, or of any of the group's. Raises Problem when the address is another
    member's, or nothing is free.
    """
    check_holding(holding)
    try:
        with transaction.atomic():
            pool, place = _allocate_place(holding, public, pool)
            lock_holdings(holding.pk)
            NatMapping.objects.filter(is_valid_now(), holding=holding).update(valid=make_range_until_now(), version=F("version") + 1)
            mapping = NatMapping.objects.create(
                holding=holding,
                group_id=holding.group_id,
                held=holding.valid,
                pool=pool,
                pool_prefix=pool.prefix,
                public=place.public,
                sharing=pool.sharing,
                block=place.block,
                valid=make_range_from_now(),
            )
            enqueue_reconcile(holding.group_id, by=by.pk)
    except IntegrityError as error:
        check_holding(holding)
        if not port_claims.is_claim_violation(error):
            raise
        raise Problem(_("This address or block was just given to another member. Try again."), "public") from error
    mapping.refresh_from_db()
    return mapping


def unmap_address(*, mapping: NatMapping, by: User) -> None:
    """End the mapping now: the holding still reaches the network inside, but not the internet. Ending it twice is harmless."""
    with transaction.atomic():
        NatMapping.objects.filter(is_valid_now(), pk=mapping.pk).update(valid=make_range_until_now(), version=F("version") + 1)
        enqueue_reconcile(mapping.group_id, by=by.pk)


def _allocate_place(holding: Holding, public: Address | None, pool: Pool | None) -> tuple[Pool, SnatPlace]:
    """Return the pool and place to map to. Transactions that want a place of the same pool wait for each other; readers and foreign keys
    do not wait.
    """
    if public is not None:
        pool = _lock_public_pool(holding, public)
    pools = [pool] if pool else list_source_pools(holding.group_id)
    for each in pools:
        locked = Pool.objects.select_for_update(no_key=True).filter(pk=each.pk).first()  # None: its split was undone meanwhile
        if locked and (place := find_snat_place(locked, holding.member, public)):
            return locked, place
    raise _build_no_place(holding, public, pools)


def _build_no_place(holding: Holding, public: Address | None, pools: list[Pool]) -> Problem:
    facts: dict[str, object] = {"public": public, "pools": ", ".join(map(str, pools))}
    if len(pools) == 1:
        refuse_retired(pools[0])
    if not pools:
        return Problem(_("There is no public IPv4 pool yet. Add one first."), "public")
    if public is None:
        return Problem(
            _("Nothing is free in %(pools)s. Add addresses, or let more members share them.") % facts, "public", culprit=pools[0]
        )
    free = find_snat_place(pools[0], holding.member)
    facts["free"] = free.public if free else ""
    found = port_claims.find_claim(public, holding.member_id)
    if found and pools[0].sharing == Pool.Sharing.OWN:
        text = _("%(public)s cannot be the address of one member alone: %(other)s has it, or ports of it.")
        unnamed = _("%(public)s cannot be the address of one member alone: another member has it, or ports of it.")
        facts["other"] = found[1].name
    else:
        text = unnamed = _("%(public)s has no free block of ports.")
    more = " " + _("%(free)s is free.") if free else ""
    said, other = (text + more) % facts, (unnamed + more) % facts
    return Problem(said, "public", offer=str(facts["free"]), culprit=found and found[0], unnamed=other)


def check_ports(protocol: str, public_port: int, private_port: int, ports: int) -> None:
    if protocol not in PortForward.Protocol.values:
        raise Problem(_("“%(protocol)s” has no ports. Choose tcp or udp.") % {"protocol": protocol}, "protocol")
    for fieldname, port in (("public_port", public_port), ("private_port", private_port)):
        if not 0 < port < 65536:
            raise Problem(_("%(port)d is not a port. Choose 1 to 65535.") % {"port": port}, fieldname)
    if not 0 < ports <= PortForward.MOST_PORTS:
        text = _("%(ports)d ports are too many for one forward. Choose 1 to %(most)d, or make several forwards.")
        raise Problem(text % {"ports": ports, "most": PortForward.MOST_PORTS}, "ports" if ports < 1 else "public_port")
    for fieldname, port in (("public_port", public_port), ("private_port", private_port)):
        if port + ports > 65536:
            text = _("%(ports)d ports from %(port)d on go beyond 65535. Begin at %(last)d or lower.")
            raise Problem(text % {"ports": ports, "port": port, "last": 65536 - ports}, fieldname)


def check_holding(holding: Holding) -> None:
    if holding.kind != Pool.Kind.PRIVATE4:
        raise Problem(_("%(address)s is not a private IPv4 address.") % {"address": holding.address}, "holding")
    if not Holding.objects.filter(is_valid_now(), pk=holding.pk).exists():
        text = _("%(member)s does not hold %(address)s any more.")
        raise Problem(text % {"member": holding.member, "address": holding.address}, "holding", culprit=holding)


def get_public_pool(holding: Holding, public: Address) -> Pool:
    """Return the group's public pool with this address. Raises Problem if there is none, or if the address is that of a gateway's probe."""
    pool = Pool.objects.filter(kind=Pool.Kind.PUBLIC4, group=holding.group_id, prefix__covers=public).first()
    if pool is None:
        known = Pool.objects.filter(kind=Pool.Kind.PUBLIC4, group=holding.group_id)
        text = _("%(address)s is not in a public pool of %(group)s. The pools are: %(pools)s.")
        pools = ", ".join(map(str, known)) or _("none yet")
        raise Problem(text % {"address": public, "group": holding.group, "pools": pools}, "public", culprit=public)
    refuse_probe_public(public, read_probed_gateways())
    return pool


def _lock_public_pool(holding: Holding, public: Address) -> Pool:
    """Lock the public pool that contains the address, as `lock_pools` does, and return it as it is then.

    If it was split while this transaction waited, the address lies in another pool now, which is locked instead.
    """
    found = get_public_pool(holding, public)
    locked = Pool.objects.select_for_update(of=("self",), no_key=True).filter(pk=found.pk, prefix__covers=public).first()
    return locked or _lock_public_pool(holding, public)


def _explain(error: IntegrityError, public: Address, protocol: str, port: int, ports: int) -> Problem:
    """Return the Problem for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    if listener := find_violation_detail(error, "listener_beside_forwards"):
        server = _("“%(listener)s”, a server of the network, listens on %(protocol)s %(port)d of %(public)s. Choose another port.")
        return Problem(server % {"protocol": protocol.upper(), "port": port, "public": public, "listener": listener}, "public_port")
    if "portforward_port_taken" not in str(error):
        raise error
    holder, first = find_overlapping_forward(public, protocol, port, ports), find_free_port(public, protocol, port, ports)
    free = format_port_range(first, ports) if first else ""
    facts: dict[str, object] = {"protocol": protocol.upper(), "port": format_port_range(port, ports), "public": public, "free": free}
    unnamed, facts["ports"] = _("%(protocol)s %(ports)s on %(public)s is taken already."), format_port_range(port, ports)
    if holder:
        text = _("%(protocol)s %(port)s on %(public)s is held by forward %(id)d of %(member)s.")
        facts |= {"member": holder.holding.member.name, "id": holder.pk, "port": format_port_range(*_intersect_ports(holder, port, ports))}
    else:
        text = _("%(protocol)s %(port)s on %(public)s was just taken by another port forward.")
    more = " " + (_("%(free)s is free.") if ports == 1 else _("%(free)s are free.")) if free else ""
    said, other = (text + more) % facts, (unnamed + more) % facts
    return Problem(said, "public_port", offer=str(first or ""), culprit=holder, unnamed=other)


def _intersect_ports(holder: PortForward, first: int, ports: int) -> Span:
    """Return the ports that both the holder's forward and the wanted span contain."""
    begin, last = max(first, holder.public_port), min(first + ports - 1, holder.last_port)
    return begin, last - begin + 1
