"""A pool's life: it is enlarged, split into parts, retired so that it gives no more addresses, and taken back into service.

Whatever happens to a pool, each member keeps what they hold.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import summarize_address_range
from typing import Any, Final

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Model
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.trail import get_trail
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Prefix
from apps.network.kept_free import find_first_unkept
from apps.network.models import MOST_KEPT, Holding, Pool
from apps.network.services import change_pool, explain_pool_error

MOST_PARTS: Final = 16
DEFER, CHECK = "SET CONSTRAINTS pool_overlaps DEFERRED", "SET CONSTRAINTS pool_overlaps IMMEDIATE"

type LinkPools = Callable[[int, int], object]

_tenants: dict[type[Model], str] = {Holding: "prefix"}
_extenders: list[LinkPools] = []
_mergers: list[LinkPools] = []


def register_pool_rows(model: type[Model], address: str) -> None:
    """Register rows that lie in a pool by this field, with columns pool and pool_prefix. Called once, when their app is ready."""
    _tenants[model] = address


def register_pool_references(*, merge: LinkPools, extend: LinkPools | None = None) -> None:
    """Register rows that name pools without lying in them. Called once, when their app is ready.

    Both functions take the ids of a part and of its pool. extend: lets what names the pool name the part, which a split just made, too;
    None: it stays with the pool, which is the first part. merge: lets what names the part name the pool, before an undo removes the part.
    """
    _mergers.append(merge)
    if extend:
        _extenders.append(extend)


# --- Retiring


def retire_pool(*, pool: Pool, version: int, by: User | None) -> Pool:
    """Give no more addresses of the pool; those that members hold stay theirs until they end. Raises Conflict.

    Retiring twice is harmless. No rule on a gateway changes.
    """
    return _mark(pool, version, by, retired=Now()) if pool.retired is None else pool


def reinstate_pool(*, pool: Pool, version: int, by: User | None) -> Pool:
    """Give addresses of a retired pool again. Raises Conflict. Doing it twice is harmless."""
    return _mark(pool, version, by, retired=None) if pool.retired else pool


def _mark(pool: Pool, version: int, by: User | None, **values: Any) -> Pool:
    with transaction.atomic():
        if not Pool.objects.filter(pk=pool.pk, version=version).update(**values, version=F("version") + 1):
            raise _build_conflict()
        enqueue_task("workers.reconcile", by and by.pk)
    pool.refresh_from_db()
    return pool


def _build_conflict() -> Conflict:
    return Conflict(_("This pool was changed by someone else in the meantime. Look at it as it is now."))


# --- Enlarging


def enlarge_pool(*, pool: Pool, version: int, prefix: Prefix, by: User | None) -> Pool:
    """Enlarge the pool to a prefix that contains the present one; what was kept free stays so. Raises Conflict and Problem."""
    after = plan_enlargement(pool, prefix)
    return change_pool(pool=pool, version=version, name=pool.name, prefix=prefix, kept=after.kept, by=by)


def plan_enlargement(pool: Pool, prefix: Prefix) -> Pool:
    """Return the pool as it would be, not saved. Raises Problem if the prefix does not contain the pool's and more, or overlaps another."""
    _check_larger(pool, prefix)
    other = Pool.objects.filter(prefix__overlaps=prefix).exclude(pk=pool.pk).first()
    if other:
        raise Problem(_("%(prefix)s overlaps the pool %(pool)s.") % {"prefix": prefix, "pool": other}, "prefix", culprit=other)
    same = {field.attname: getattr(pool, field.attname) for field in Pool._meta.concrete_fields}
    return Pool(**same | {"prefix": prefix, "kept": _plan_kept(pool, prefix)})


def _check_larger(pool: Pool, prefix: Prefix) -> None:
    if prefix.version != pool.prefix.version or prefix == pool.prefix or not pool.prefix.subnet_of(prefix):
        words = _(
            "%(prefix)s does not contain all of %(before)s and more. A larger prefix has a shorter length: %(example)s, for instance."
        )
        example = pool.prefix.supernet() if pool.prefix.prefixlen else pool.prefix
        raise Problem(words % {"prefix": prefix, "before": pool.prefix, "example": example}, "prefix", offer=str(example))


def _plan_kept(pool: Pool, prefix: Prefix) -> list[Prefix]:
    """Return what an enlarged pool keeps free besides its first shares: what the pool keeps now, its first shares among them."""
    if prefix.network_address == pool.prefix.network_address:
        return list(pool.kept)
    return _merge_kept([*pool.kept, *_list_first(pool)])


def _list_first(pool: Pool) -> list[Prefix]:
    """Return the first shares that are kept free, as prefixes."""
    first, lowest = int(pool.prefix.network_address), find_first_unkept(pool)
    if not pool.kept_first:
        return []
    kind = type(pool.prefix.network_address)
    return list(summarize_address_range(kind(first), kind(lowest - 1)))


def _merge_kept(kept: Iterable[Prefix]) -> list[Prefix]:
    found = sorted(set(kept), key=lambda each: (int(each.network_address), each.prefixlen))
    return [each for each in found if not any(each != other and each.subnet_of(other) for other in found)]  # type: ignore[arg-type]  # of one version


# --- Splitting


@dataclass(frozen=True, slots=True)
class PoolPart:
    """A part that a split would make. held: members' holdings in it now; kept: what it keeps free besides its first shares."""

    name: str
    prefix: Prefix
    kept_first: int
    kept: Sequence[Prefix]
    held: int


def plan_split(pool: Pool, length: int) -> list[PoolPart]:
    """Return the parts of this prefix length, the first of which stays the pool itself. Raises Problem if it is impossible."""
    _check_length(pool, length)
    kept = _merge_kept([*pool.kept, *_list_first(pool)])
    return [_plan_part(pool, number, part, kept) for number, part in enumerate(pool.prefix.subnets(new_prefix=length), 1)]


def split_pool(*, pool: Pool, version: int, length: int, by: User | None) -> list[Pool]:
    """Split the pool into parts of this prefix length, and return them. Each holding stays, in the part that contains it.

    The first part is the pool itself; the others have its settings and its name with a number. Raises Conflict and Problem.
    """
    wanted = pool
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            locked = Pool.objects.select_for_update().filter(pk=pool.pk, version=version).first()
            if locked is None:
                raise _build_conflict()
            first, *others = plan_split(locked, length)
            cursor.execute(DEFER)
            made = []
            for part in others:
                wanted = _build_part(locked, part)
                wanted.save(force_insert=True)
                _move_tenants(locked, wanted, part.prefix)
                _link(_extenders, wanted.pk, locked.pk)
                made.append(wanted)
            wanted = _build_part(locked, first)
            shrunk = {"prefix": first.prefix, "kept_first": first.kept_first, "kept": list(first.kept)}
            Pool.objects.filter(pk=pool.pk).update(**shrunk, version=F("version") + 1)
            cursor.execute(CHECK)
            enqueue_task("workers.reconcile", by and by.pk)
    except IntegrityError as error:
        raise explain_pool_error(error, wanted) from error
    pool.refresh_from_db()
    return [pool, *made]


def undo_pool_split(former: Pool, current: Pool) -> None:
    """Bring back a pool before its prefix is, if its last change was a split: what lies in the parts returns, and the parts go.

    For an undo, in its transaction. former: the pool before. What names a part names the pool then. Raises Problem if a part has been
    changed since.
    """
    parts = _list_parts(current)
    changed = next((part for part in parts if part.version > 1), None)
    if changed:
        raise Problem(_("%(pool)s has been changed since. Undo that first.") % {"pool": changed}, culprit=changed)
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(DEFER)
        Pool.objects.filter(pk=current.pk).update(prefix=former.prefix)
    for part in parts:
        _move_tenants(part, former, part.prefix)
        _link(_mergers, part.pk, former.pk)
        part.delete()


def _list_parts(pool: Pool) -> list[Pool]:
    """Return the pools that were made by the pool's last change."""
    events = get_trail(Pool).events._default_manager
    last = events.filter(pgh_obj_id=pool.pk).order_by("-pgh_id").first()
    made = events.filter(pgh_created_at=last.pgh_created_at, pgh_label="insert").values("pgh_obj_id")
    return list(Pool.objects.select_for_update().filter(pk__in=made, kind=pool.kind, group=pool.group_id).exclude(pk=pool.pk))


def _check_length(pool: Pool, length: int) -> None:
    least = pool.prefix.prefixlen + 1
    most = min(pool.member_length if pool.kind == Pool.Kind.PREFIX6 else 30, least + MOST_PARTS.bit_length() - 2)
    if most < least:
        raise Problem(_("%(pool)s is too small to be split.") % {"pool": pool}, "length", culprit=pool)
    if not least <= length <= most:
        words = _("A part of %(prefix)s has a prefix length of %(least)d to %(most)d.")
        raise Problem(words % {"prefix": pool.prefix, "least": least, "most": most}, "length")


def _plan_part(pool: Pool, number: int, prefix: Prefix, kept: Iterable[Prefix]) -> PoolPart:
    """Return a part. kept: what all of the pool keeps free. The first part keeps the first shares as such."""
    shares = 1 << (pool.member_length - prefix.prefixlen)
    first = min(pool.kept_first, shares) if number == 1 else 0
    inside = [each if each.subnet_of(prefix) else prefix for each in (pool.kept if number == 1 else kept) if each.overlaps(prefix)]  # type: ignore[arg-type]
    if len(inside) > MOST_KEPT:
        raise Problem(_("At most %(most)d can be listed here.") % {"most": MOST_KEPT}, "kept", culprit=pool)
    held = Holding.objects.filter(pool=pool, prefix__within=prefix, valid__contains=Now()).count()
    return PoolPart(pool.name if number == 1 else f"{pool.name[:56]} {number}", prefix, first, inside, held)


def _build_part(pool: Pool, part: PoolPart) -> Pool:
    same = {name: getattr(pool, name) for name in ("group", "kind", "member_length", "sharing", "block_size", "retired")}
    return Pool(name=part.name, prefix=part.prefix, kept_first=part.kept_first, kept=list(part.kept), **same)


def _move_tenants(source: Pool, target: Pool, prefix: Prefix) -> None:
    """Let what lies in this prefix of the source pool belong to the target pool."""
    for model, address in _tenants.items():
        rows = model._default_manager.filter(pool=source.pk, **{f"{address}__within": prefix})
        rows.update(pool=target.pk, pool_prefix=target.prefix)


def _link(linkers: Iterable[LinkPools], part: int, pool: int) -> None:
    for link in linkers:
        link(part, pool)
