"""Services that write many port forwards in a constant number of statements. The rules for a single forward are in services.py.

All or none: any refusal raises, and nothing is written. To learn which forward is refused, callers use services.py for each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F

from apps.accounts.models import User
from apps.lib.database.validity import is_valid_now, make_range_until_now
from apps.lib.enqueue import enqueue_reconcile
from apps.lib.fields import Address
from apps.nat import services
from apps.nat.expiry_dates import check_end
from apps.nat.models import PortForward
from apps.network.models import Holding, Pool
from apps.network.probe_addresses import read_probed_gateways, refuse_probe_public
from apps.network.services import lock_holdings, lock_pools

ADD = """
    INSERT INTO nat_portforward (version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, protocol, public_port,
        private_port, ports, purpose, enabled, valid)
    SELECT 1, w.holding, h.group_id, h.kind, h.valid, w.pool, p.kind, p.prefix, w.public, w.protocol, w.public_port,
        w.private_port, w.ports, w.purpose, w.enabled, tstzrange(statement_timestamp(), w.until)
    FROM unnest(%s::bigint[], %s::bigint[], %s::inet[], %s::text[], %s::int[], %s::int[], %s::int[], %s::text[], %s::bool[],
        %s::timestamptz[]) WITH ORDINALITY
        AS w (holding, pool, public, protocol, public_port, private_port, ports, purpose, enabled, until, place)
    LEFT JOIN network_holding h ON h.id = w.holding LEFT JOIN network_pool p ON p.id = w.pool
    ORDER BY w.place
    RETURNING id, host(public), protocol, public_port
"""
"""A holding or pool that is gone leaves its columns empty, which the table refuses. Ids follow the order of what is wanted."""
CHANGE = """
    UPDATE nat_portforward f
    SET private_port = w.private_port, purpose = w.purpose, enabled = w.enabled, valid = tstzrange(lower(f.valid), w.until),
        version = f.version + 1
    FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::text[], %s::bool[], %s::timestamptz[])
        AS w (id, version, private_port, purpose, enabled, until)
    WHERE f.id = w.id AND f.version = w.version AND f.valid @> statement_timestamp()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardDraft:
    """A forward to be added; fields as in `services.add_forward`."""

    holding: Holding
    public: Address
    protocol: str
    public_port: int
    private_port: int
    ports: int = 1
    purpose: str = ""
    until: datetime | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardChange(ForwardDraft):
    """The wanted state of a forward, on top of the version that was read."""

    forward: PortForward
    version: int

    @property
    def keeps_public_side(self) -> bool:
        """Whether its public side and its holding stay as they are."""
        side = ("holding_id", "public", "protocol", "public_port", "ports")
        now = (self.holding.pk, self.public, self.protocol, self.public_port, self.ports)
        return all(getattr(self.forward, name) == value for name, value in zip(side, now, strict=True))


def add_forwards(*, wanted: Sequence[ForwardDraft], by: User) -> list[PortForward]:
    """Add all of these from now on, in their order. Raises Problem or IntegrityError, and then adds none."""
    for each in wanted:
        services.check_ports(each.protocol, each.public_port, each.private_port, each.ports)
        check_end(each.until)
    _check_holdings(wanted)
    probed = read_probed_gateways()
    for each in wanted:
        refuse_probe_public(each.public, probed)
    pools = _list_pools(wanted)
    chosen = [_find_pool(each, each.holding, pools).pk for each in wanted]
    with transaction.atomic():
        lock_pools(*set(chosen))
        lock_holdings(*{each.holding.pk for each in wanted})
        ids = _insert(wanted, chosen)
        enqueue_reconcile(*{each.holding.group_id for each in wanted}, by=by.pk)
        return _reload(ids, wanted)


def _insert(wanted: Sequence[ForwardDraft], pools: Sequence[int]) -> list[int]:
    """Insert the forwards, each in the pool with this id, and return their ids in the same order."""
    columns = (
        [each.holding.pk for each in wanted],
        list(pools),
        [str(each.public) for each in wanted],
        [each.protocol for each in wanted],
        [each.public_port for each in wanted],
        [each.private_port for each in wanted],
        [each.ports for each in wanted],
        [each.purpose.strip() for each in wanted],
        [each.enabled for each in wanted],
        [each.until for each in wanted],
    )
    with connection.cursor() as cursor:
        cursor.execute(ADD, columns)
        found = {(public, protocol, port): pk for pk, public, protocol, port in cursor.fetchall()}
    return [found[str(each.public), each.protocol, each.public_port] for each in wanted]


def _find_pool(each: ForwardDraft, holding: Holding, pools: Sequence[Pool]) -> Pool:
    """Return the pool that contains the public address. Raises Problem if there is none."""
    found = next((pool for pool in pools if pool.group_id == holding.group_id and each.public in pool.prefix), None)
    return found or services.get_public_pool(holding, each.public)


def _check_holdings(wanted: Iterable[ForwardDraft]) -> None:
    """Raise Problem if a holding has ended, or is not a private IPv4 address."""
    asked = {each.holding.pk: each.holding for each in wanted}
    good = Holding.objects.filter(is_valid_now(), kind=Pool.Kind.PRIVATE4, pk__in=asked)
    for pk in asked.keys() - set(good.values_list("pk", flat=True)):
        services.check_holding(asked[pk])


def _list_pools(wanted: Iterable[ForwardDraft]) -> list[Pool]:
    groups = {each.holding.group_id for each in wanted}
    return list(Pool.objects.filter(kind=Pool.Kind.PUBLIC4, group__in=groups))


def change_forwards(*, wanted: Sequence[ForwardChange], by: User) -> list[PortForward]:
    """Change all of these, in their order. A forward with a new public side or holding ends, and a new one begins in its place.

    Raises Conflict when one was changed since its version, Problem or IntegrityError as `services.change_or_replace_forward` does.
    """
    staying = [each for each in wanted if each.keeps_public_side]
    for each in wanted:
        services.check_ports(each.protocol, each.public_port, each.private_port, each.ports)
        if each.until != each.forward.valid.upper:
            check_end(each.until)
    pools = _list_pools(wanted)
    with transaction.atomic():
        moving = [each for each in wanted if not each.keeps_public_side]
        lock_pools(*{each.forward.pool_id for each in moving}, *(_find_pool(each, each.holding, pools).pk for each in moving))
        lock_holdings(*{pk for each in wanted for pk in (each.holding.pk, each.forward.holding_id)})
        _lock(each.forward.pk for each in wanted)
        if staying and _update(staying) != len(staying):
            raise services.build_conflict()
        ids = [each.forward.pk if each.keeps_public_side else _move(each, by) for each in wanted]
        enqueue_reconcile(*(group for each in wanted for group in (each.forward.group_id, each.holding.group_id)), by=by.pk)
        return _reload(ids, wanted)


def _lock(forwards: Iterable[int]) -> list[int]:
    """Lock the forwards in order of their ids, so that two transactions that change some of the same do not deadlock."""
    return list(PortForward.objects.select_for_update().filter(pk__in=list(forwards)).order_by("pk").values_list("pk", flat=True))


def _update(staying: Sequence[ForwardChange]) -> int:
    columns = (
        [each.forward.pk for each in staying],
        [each.version for each in staying],
        [each.private_port for each in staying],
        [each.purpose.strip() for each in staying],
        [each.enabled for each in staying],
        [each.until for each in staying],
    )
    with connection.cursor() as cursor:
        cursor.execute(CHANGE, columns)
        return int(cursor.rowcount)


def _move(each: ForwardChange, by: User) -> int:
    forward = services.change_or_replace_forward(
        forward=each.forward,
        version=each.version,
        holding=each.holding,
        public=each.public,
        protocol=each.protocol,
        public_port=each.public_port,
        private_port=each.private_port,
        ports=each.ports,
        purpose=each.purpose,
        until=each.until,
        by=by,
    )
    PortForward.objects.filter(pk=forward.pk).exclude(enabled=each.enabled).update(enabled=each.enabled)
    return forward.pk


def remove_forwards(*, forwards: Iterable[PortForward], by: User) -> None:
    """End all of these now; their history stays. Ending them twice is harmless."""
    with transaction.atomic():
        ending = list(forwards)
        pks = _lock(each.pk for each in ending)
        current = PortForward.objects.filter(is_valid_now(), pk__in=pks)
        current.update(valid=make_range_until_now(), version=F("version") + 1)
        enqueue_reconcile(*(each.group_id for each in ending), by=by.pk)


def _reload(ids: Sequence[int], wanted: Sequence[ForwardDraft]) -> list[PortForward]:
    """Return the forwards in this order, each with its holding; read before the commit, after which others may end them."""
    found = PortForward.objects.in_bulk(ids)
    for pk, draft in zip(ids, wanted, strict=True):
        found[pk].holding = draft.holding
    return [found[pk] for pk in ids]
