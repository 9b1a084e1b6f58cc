"""Services that assign and release addresses, and that add and change pools.

Every refusal names both sides, and what would be possible instead.
"""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib import dependents
from apps.lib.database.constraint_violations import find_violation_detail
from apps.lib.database.validity import is_valid_now, make_range_from_now
from apps.lib.dependents import EndedCount
from apps.lib.enqueue import enqueue_reconcile, enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Prefix
from apps.members.models import Device, Member
from apps.network.kept_free import choose_kept_first_count
from apps.network.models import BLOCK_SIZES, MOST_KEPT, MOST_KEPT_FIRST, GatewayGroup, Holding, Pool, find_block_size
from apps.network.prefix_lengths import list_competing_pools, refuse_further_lengths
from apps.network.probe_addresses import refuse_addresses_of_gateways
from apps.network.refusals import explain_retired, find_refusal, format_address_or_prefix
from apps.network.selectors import count_member_shares, find_free_prefix, find_overlapping_holding
from firewall.addresses import PRIVATE


def assign_address(*, member: Member, pool: Pool, prefix: Prefix | None = None, device: Device | None = None, by: User) -> Holding:
    """Assign the member an address or prefix of the pool from now on: the given one, or the next free one. Raises Problem."""
    _check_member(member, device)
    try:
        with transaction.atomic():
            competing = list_competing_pools([pool.pk]) if pool.kind == Pool.Kind.PREFIX6 else []
            lock_pools(*competing)
            # Transactions that want the next free address of the same pool wait for each other; readers and foreign keys do not wait.
            pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
            refuse_retired(pool)
            if competing:
                refuse_further_lengths([pool])
            share = _validate_prefix(pool, prefix) if prefix else _get_next_free(pool)
            holding = Holding.objects.create(
                member=member,
                device=device,
                pool=pool,
                group_id=pool.group_id,
                kind=pool.kind,
                pool_prefix=pool.prefix,
                prefix=share,
                valid=make_range_from_now(),
            )
            enqueue_reconcile(pool.group_id, by=by.pk)
    except IntegrityError as error:
        raise _explain_holding_error(error, pool, prefix) from error
    holding.refresh_from_db()
    return holding


def refuse_retired(pool: Pool) -> None:
    """Raise Problem if the pool gives no more addresses."""
    if pool.retired:
        raise Problem(explain_retired(pool), "pool", culprit=pool)


def lock_pools(*pks: int) -> None:
    """Lock these pools until the transaction ends: after the member, and before the holdings.

    Inserts of rows that refer to them do not wait. Every transaction that claims ports of a public pool's addresses takes this lock.
    Otherwise two transactions could both write a claim for the same ports before either sees the other, and PostgreSQL would have to
    abort one of them as a deadlock.
    """
    list(Pool.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks).order_by("pk").values_list("pk", flat=True))


def lock_holdings(*pks: int) -> None:
    """Lock these holdings until the transaction ends: after the member and the pools, and before their dependents are changed.

    `release_holding` and a member's departure go from the holding to its dependents. A transaction that changes a forward or mapping
    first, and then writes a row that refers to its holding, would take the locks in the opposite order, and the two would deadlock.
    """
    list(Holding.objects.select_for_update().filter(pk__in=pks).order_by("pk").values_list("pk", flat=True))


def release_holding(*, holding: Holding, by: User) -> list[EndedCount]:
    """End the holding now, after its dependents; return the counts of what ended. Releasing twice is harmless."""
    with transaction.atomic():
        held = Holding.objects.select_for_update().filter(is_valid_now(), pk=holding.pk)
        ended = dependents.end_dependents(Holding, held.values_list("pk", flat=True)) if held.exists() else []
        dependents.end_rows(Holding.objects.filter(pk=holding.pk))
        enqueue_reconcile(holding.group_id, by=by.pk)
    return ended


def add_pool(
    *,
    name: str,
    kind: str,
    prefix: Prefix,
    group: GatewayGroup,
    member_length: int = 32,
    sharing: str = "",
    block_size: int | None = None,
    kept_first: int | None = None,
    kept: Sequence[Prefix] = (),
    by: User | None,
) -> Pool:
    """Add a pool. Raises Problem when it overlaps another.

    kept_first, kept: what is kept free (models.Pool); if None, the first ten addresses or prefixes, and fewer of a small pool.

    sharing: if "", a public pool gets the best that fits the members who hold a private address now: an address of its own for each, else
    a block of ports for each; only if even the smallest suitable blocks are too few do they share without blocks.
    """
    pool = Pool(name=name.strip(), kind=kind, prefix=prefix, group=group, member_length=_get_member_length(kind, member_length))
    _check_pool(pool)
    pool.kept_first, pool.kept = choose_kept_first_count(pool) if kept_first is None else kept_first, list(kept)
    _check_kept(pool)
    refuse_addresses_of_gateways(pool)
    if count_member_shares(pool) < 1:
        raise Problem(_("Nothing is left for members. Keep fewer addresses free."), "kept_first" if pool.kept_first else "kept")
    pool.sharing, pool.block_size = (sharing, block_size) if sharing else _choose_sharing(pool)
    if not sharing and block_size is not None:
        pool.sharing, pool.block_size = Pool.Sharing.BLOCKS, block_size
    check_sharing(pool.kind, pool.sharing, pool.block_size)
    try:
        with transaction.atomic():
            pool.save(force_insert=True)
            enqueue_task("workers.reconcile", by and by.pk)
    except IntegrityError as error:
        raise explain_pool_error(error, pool) from error
    return pool


def check_sharing(kind: str, sharing: str, block_size: int | None) -> None:
    """Raise Problem if a pool of this kind cannot be shared like this, or if the block size is missing, superfluous or not possible."""
    if sharing != Pool.Sharing.SHARED and kind != Pool.Kind.PUBLIC4:
        raise Problem(_("You can choose how members use a pool only for public IPv4."), "sharing")
    if sharing != Pool.Sharing.BLOCKS and block_size is not None:
        raise Problem(_("A block size applies only where members have blocks of ports."), "block_size")
    if sharing == Pool.Sharing.BLOCKS and block_size not in BLOCK_SIZES:
        sizes = ", ".join(map(str, BLOCK_SIZES))
        raise Problem(_("Choose how many ports a member has: %(sizes)s.") % {"sizes": sizes}, "block_size")


def _choose_sharing(pool: Pool) -> tuple[str, int | None]:
    """Return the default sharing and block size: own addresses if there are enough, else blocks of ports, else shared addresses."""
    if pool.kind != Pool.Kind.PUBLIC4:
        return Pool.Sharing.SHARED, None
    private = Holding.objects.filter(is_valid_now(), group=pool.group, kind=Pool.Kind.PRIVATE4)
    members = private.values("member").distinct().count()
    if members <= count_member_shares(pool):
        return Pool.Sharing.OWN, None
    block_size = find_block_size(count_member_shares(pool), members)
    return (Pool.Sharing.BLOCKS if block_size else Pool.Sharing.SHARED), block_size


def change_pool(
    *,
    pool: Pool,
    version: int,
    name: str,
    prefix: Prefix,
    kept_first: int | None = None,
    kept: Sequence[Prefix] | None = None,
    by: User | None,
) -> Pool:
    """Rename, grow or shrink a pool, and change what is kept free (None: as it is). Addresses that members hold stay theirs.

    Raises Conflict when it was changed since `version`, Problem when the change is not possible.
    """
    wanted = Pool(pk=pool.pk, name=name.strip(), kind=pool.kind, prefix=prefix, group=pool.group, member_length=pool.member_length)
    _check_pool(wanted)
    wanted.kept_first = pool.kept_first if kept_first is None else kept_first
    wanted.kept = pool.kept if kept is None else list(kept)
    _check_kept(wanted)
    refuse_addresses_of_gateways(wanted)
    changes = {"name": wanted.name, "prefix": prefix, "kept_first": wanted.kept_first, "kept": wanted.kept}
    try:
        with transaction.atomic():
            current = Pool.objects.filter(pk=pool.pk, version=version)
            if not current.update(**changes, version=F("version") + 1):
                raise Conflict(
                    _("This pool was changed by someone else while you were editing. Your input is kept below; compare and save again.")
                )
            enqueue_task("workers.reconcile", by and by.pk)
    except IntegrityError as error:
        raise explain_pool_error(error, wanted) from error
    pool.refresh_from_db()
    return pool


def _check_member(member: Member, device: Device | None) -> None:
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left. Activate this member first.") % {"member": member}, culprit=member)
    if device and device.member_id != member.pk:
        text = _("%(device)s belongs to %(owner)s. Choose a device of %(member)s.")
        unnamed = _("This device does not belong to %(member)s.") % {"member": member}
        raise Problem(text % {"device": device, "owner": device.member, "member": member}, "device", culprit=device, unnamed=unnamed)


def _validate_prefix(pool: Pool, prefix: Prefix) -> Prefix:
    refusal = find_refusal(pool, prefix)
    if refusal:
        text, fieldname = refusal
        raise Problem(text, fieldname, offer=_find_offer(pool), culprit=pool)
    return prefix


def _get_next_free(pool: Pool) -> Prefix:
    if pool.kind == Pool.Kind.PUBLIC4:
        return _validate_prefix(pool, pool.prefix)
    free = find_free_prefix(pool)
    if free is None:
        raise Problem(
            _("The pool %(pool)s is full. Release what is not needed any more, or add a pool.") % {"pool": pool}, "pool", culprit=pool
        )
    return free


def _explain_holding_error(error: IntegrityError, pool: Pool, prefix: Prefix | None) -> Problem:
    """Return the Problem for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    if "holding_address_held_twice" not in str(error) or prefix is None:
        raise error
    holder, offer = find_overlapping_holding(prefix), _find_offer(pool)
    facts = {
        "prefix": format_address_or_prefix(prefix),
        "member": holder.member if holder else "",
        "number": holder.member.number if holder else 0,
        "free": offer,
    }
    text = _("%(prefix)s is held by %(member)s (M-%(number)d).") if holder else _("%(prefix)s was just assigned to another member.")
    more = " " + _("%(free)s is free.") if offer else ""
    unnamed = (_("%(prefix)s is held by another member.") + more) % facts
    return Problem((text + more) % facts, "prefix", offer=offer, culprit=holder, unnamed=unnamed)


def _find_offer(pool: Pool) -> str:
    free = find_free_prefix(pool) if pool.kind != Pool.Kind.PUBLIC4 else None
    return format_address_or_prefix(free) if free else ""


def _get_member_length(kind: str, length: int) -> int:
    return length if kind == Pool.Kind.PREFIX6 else 32


def _check_pool(pool: Pool) -> None:
    """Raise Problem for what the database would refuse, with a sentence for people."""
    six = pool.kind == Pool.Kind.PREFIX6
    facts = {"prefix": pool.prefix, "length": pool.member_length}
    if six != (pool.prefix.version == 6):
        text = (
            _("%(prefix)s is IPv4. Members' IPv6 prefixes come from an IPv6 pool.")
            if six
            else _("%(prefix)s is IPv6. Choose the kind “IPv6 prefixes”.")
        )
        raise Problem(text % facts, "prefix")
    if pool.kind == Pool.Kind.PUBLIC4 and any(pool.prefix.overlaps(private) for private in PRIVATE):
        words = _(
            "%(prefix)s is private: no answer from the internet would come back to it. A public pool is a prefix that is routed to you."
        )
        raise Problem(words % facts, "prefix")
    if six and not 32 <= pool.member_length <= 64:
        raise Problem(_("The prefix length per member is /32 to /64."), "member_length")
    if six and pool.member_length < pool.prefix.prefixlen:
        raise Problem(_("A /%(length)d is larger than the pool %(prefix)s itself.") % facts, "member_length")
    other = Pool.objects.filter(prefix__overlaps=pool.prefix).exclude(pk=pool.pk).first()
    if other:
        raise Problem(_("%(prefix)s overlaps the pool %(pool)s.") % {"prefix": pool.prefix, "pool": other}, "prefix", culprit=other)


def _check_kept(pool: Pool) -> None:
    """Raise Problem if the pool cannot keep these free."""
    if pool.kind == Pool.Kind.PUBLIC4 and (pool.kept_first or pool.kept):
        raise Problem(
            _("A public pool keeps nothing free; leave these addresses out of its prefix."), "kept_first" if pool.kept_first else "kept"
        )
    if not 0 <= pool.kept_first <= MOST_KEPT_FIRST:
        raise Problem(_("At most the first %(most)d can be kept free.") % {"most": MOST_KEPT_FIRST}, "kept_first")
    if len(pool.kept) > MOST_KEPT:
        raise Problem(_("At most %(most)d can be listed here.") % {"most": MOST_KEPT}, "kept")
    outside = next((each for each in pool.kept if each.version != pool.prefix.version or not each.subnet_of(pool.prefix)), None)
    if outside:
        facts = {"prefix": format_address_or_prefix(outside), "pool": pool}
        raise Problem(_("%(prefix)s is not in the pool %(pool)s.") % facts, "kept")


def explain_pool_error(error: IntegrityError, pool: Pool) -> Problem:
    """Return the Problem for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    text = str(error)
    if listener := find_violation_detail(error, "listener_outside_pools"):
        sentence = _("The listener %(listener)s is in %(prefix)s. Servers and members cannot share a pool; remove the listener first.")
        return Problem(sentence % {"listener": listener, "prefix": pool.prefix}, "prefix")
    if "pool_overlaps" in text:
        return Problem(_("%(prefix)s overlaps another pool that was just added.") % {"prefix": pool.prefix}, "prefix")
    if "within_pool" in text:
        outside = Holding.objects.filter(is_valid_now(), pool=pool.pk).exclude(prefix__within=pool.prefix).count()
        held = ngettext("%(number)d address", "%(number)d addresses", outside) % {"number": outside}
        sentence = _("%(prefix)s does not contain all addresses assigned from this pool (%(held)s still in use).")
        return Problem(sentence % {"prefix": pool.prefix, "held": held}, "prefix")
    if "name" in text:
        return Problem(_("There is already a pool “%(name)s”.") % {"name": pool.name}, "name")
    raise error
