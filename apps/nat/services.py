"""Writing port forwards and NAT mappings. Every refusal is a sentence that names both sides, and what would do instead."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address
from apps.lib.nudge import nudge
from apps.lib.refusals import detail_of
from apps.lib.validity import ended_now, from_now, holds_now
from apps.nat.models import NatMapping, PortForward
from apps.nat.selectors import free_port, holder_of_port
from apps.network.models import Holding, Pool


def add_forward(
    *,
    holding: Holding,
    public: Address,
    protocol: str,
    public_port: int,
    private_port: int,
    purpose: str = "",
    until: datetime | None = None,
    by: User,
) -> PortForward:
    """Lead a public port to the holding from now on. Raises Problem when the port is taken, or the address is not for this."""
    _check_ports(protocol, public_port, private_port)
    _check_holding(holding)
    pool = _public_pool(holding, public)
    try:
        with transaction.atomic():
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
                purpose=purpose.strip(),
                valid=from_now(until),
            )
            nudge("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explained(error, public, protocol, public_port) from error
    forward.refresh_from_db()
    return forward


def change_forward(*, forward: PortForward, version: int, private_port: int, purpose: str, enabled: bool, by: User) -> PortForward:
    """Change where a forward leads and whether it is on. Raises Conflict when somebody changed it since `version`."""
    _check_ports(forward.protocol, forward.public_port, private_port)
    current = PortForward.objects.filter(holds_now(), pk=forward.pk, version=version)
    with transaction.atomic():
        changed = current.update(private_port=private_port, purpose=purpose.strip(), enabled=enabled, version=F("version") + 1)
        if not changed:
            raise Conflict(_("Somebody changed or removed this forward while you were editing. Look at it as it is now, then save again."))
        nudge("workers.reconcile", by.pk)
    forward.refresh_from_db()
    return forward


def remove_forward(*, forward: PortForward, by: User) -> None:
    """End a forward now; its history stays. Ending it twice is harmless."""
    with transaction.atomic():
        PortForward.objects.filter(holds_now(), pk=forward.pk).update(valid=ended_now(), version=F("version") + 1)
        nudge("workers.reconcile", by.pk)


def restore_forward(*, forward: PortForward, by: User) -> PortForward:
    """The same forward again, from now on. Raises Problem when its port was taken meanwhile."""
    return add_forward(
        holding=forward.holding,
        public=forward.public,
        protocol=forward.protocol,
        public_port=forward.public_port,
        private_port=forward.private_port,
        purpose=forward.purpose,
        by=by,
    )


def map_address(*, holding: Holding, public: Address, by: User) -> NatMapping:
    """Let the holding leave as this public address from now on, instead of as what it did before."""
    _check_holding(holding)
    pool = _public_pool(holding, public)
    with transaction.atomic():
        NatMapping.objects.filter(holds_now(), holding=holding).update(valid=ended_now(), version=F("version") + 1)
        mapping = NatMapping.objects.create(
            holding=holding,
            group_id=holding.group_id,
            held=holding.valid,
            pool=pool,
            pool_prefix=pool.prefix,
            public=public,
            valid=from_now(),
        )
        nudge("workers.reconcile", by.pk)
    mapping.refresh_from_db()
    return mapping


def _check_ports(protocol: str, public_port: int, private_port: int) -> None:
    if protocol not in PortForward.Protocol.values:
        raise Problem(_("“%(protocol)s” has no ports. Choose tcp or udp.") % {"protocol": protocol}, "protocol")
    for fieldname, port in (("public_port", public_port), ("private_port", private_port)):
        if not 0 < port < 65536:
            raise Problem(_("%(port)d is no port. Choose 1 to 65535.") % {"port": port}, fieldname)


def _check_holding(holding: Holding) -> None:
    if holding.kind != Pool.Kind.PRIVATE4:
        raise Problem(_("%(address)s is no private IPv4 address.") % {"address": holding.address}, "holding")
    if not Holding.objects.filter(holds_now(), pk=holding.pk).exists():
        text = _("%(member)s does not hold %(address)s any more.")
        raise Problem(text % {"member": holding.member, "address": holding.address}, "holding", culprit=holding)


def _public_pool(holding: Holding, public: Address) -> Pool:
    pool = Pool.objects.filter(kind=Pool.Kind.PUBLIC4, group=holding.group_id, prefix__covers=public).first()
    if pool is None:
        known = Pool.objects.filter(kind=Pool.Kind.PUBLIC4, group=holding.group_id)
        text = _("%(address)s is in no public pool of %(group)s. The pools are: %(pools)s.")
        pools = ", ".join(map(str, known)) or _("none yet")
        raise Problem(text % {"address": public, "group": holding.group, "pools": pools}, "public", culprit=public)
    return pool


def _explained(error: IntegrityError, public: Address, protocol: str, port: int) -> Problem:
    """The sentence for what the database refused. An error of any other constraint is ours, and raised as it is."""
    if listener := detail_of(error, "listener_beside_forwards"):
        text = _("%(protocol)s %(port)d on %(public)s is where “%(listener)s” listens, a server of the network. Choose another port.")
        return Problem(text % {"protocol": protocol.upper(), "port": port, "public": public, "listener": listener}, "public_port")
    if "portforward_port_taken" not in str(error):
        raise error
    holder, free = holder_of_port(public, protocol, port), free_port(public, protocol, port)
    facts = {"protocol": protocol.upper(), "port": port, "public": public, "free": free, "id": holder.pk if holder else 0}
    if holder:
        text = _("%(protocol)s %(port)d on %(public)s is held by forward %(id)d of %(member)s.")
        facts["member"] = holder.holding.member.name
    else:
        text = _("%(protocol)s %(port)d on %(public)s was just taken by somebody else.")
    if free:
        text += " " + _("%(free)d is free.")
    return Problem(text % facts, "public_port", offer=str(free or ""), culprit=holder)
