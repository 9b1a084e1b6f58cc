"""Services that plan moves and carry them out. A move is one transaction, so that no member is without an address in between."""

from dataclasses import dataclass
from datetime import date

import pghistory
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import check_not_too_far_ahead, is_valid_now
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web.cached_rows import cache_rows
from apps.members.models import Member, Room
from apps.nat import services
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.nat.moving.models import Move
from apps.nat.pinholes.services import replace_member_prefix
from apps.network.models import Holding, Pool
from apps.network.services import assign_address, lock_holdings, release_holding

LONGEST_PROBLEM = 300


@dataclass(frozen=True)
class HoldingMoveEffect:
    """Effect of a move on one holding. `following`: descriptions of forwards and pinholes that follow; `ending`: of those that end."""

    old: Holding
    public: str
    following: list[str]
    ending: list[str]


def plan_member_move(*, member: Member, on: date, room: Room | None, pool: Pool | None, follow: bool, by: User) -> Move:
    """Plan a move for the beginning of that day. Raises Problem when it changes nothing, or another move of the member is planned."""
    if room is None and pool is None:
        raise Problem(_("Choose a room, or a pool for a new address, or both."), "room")
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left already.") % {"member": member}, culprit=member)
    check_not_too_far_ahead(on, "on")
    if pool and pool.kind == Pool.Kind.PUBLIC4:
        raise Problem(
            _("%(pool)s is a public pool: members get its addresses by NAT mapping, not directly. Choose another pool.") % {"pool": pool},
            "pool",
        )
    try:
        with transaction.atomic():
            return Move.objects.create(member=member, on=on, room=room, pool=pool, follow=follow, by=by)
    except IntegrityError as error:
        if "move_one_planned" not in str(error):
            raise
        raise Problem(_("A move of %(member)s is already planned. Cancel it first.") % {"member": member}, "on", culprit=member) from error


def plan_or_carry_out_move(*, member: Member, on: date | None, room: Room | None, pool: Pool | None, follow: bool, by: User) -> Move:
    """Plan a move; carry it out at once if it is for today, or no day. Raises Problem if that is impossible; then nothing is planned."""
    today = timezone.localdate()
    on = on or today
    if on < today:
        raise Problem(_("This day is in the past."), "on")
    with transaction.atomic():
        move = plan_member_move(member=member, on=on, room=room, pool=pool, follow=follow, by=by)
        if on == today and not carry_out_move(move):
            move.refresh_from_db()
            raise Problem(move.problem)
    move.refresh_from_db()
    return move


def cancel_move(move: Move) -> None:
    """Cancel a planned move. Raises Conflict when it was carried out or dropped already."""
    if Move.objects.filter(pk=move.pk, state=Move.State.PLANNED).update(state=Move.State.DROPPED) != 1:
        raise Conflict(_("This is not planned any more. Look at the member again."))


def drop_planned_moves(member: Member) -> None:
    """Cancel the planned move of a member whose membership ends: who comes back keeps what is held for them."""
    Move.objects.filter(member=member, state=Move.State.PLANNED).update(state=Move.State.DROPPED)


def follow_merged_pool(part: int, pool: int) -> None:
    """Let moves to a part of a pool lead to the pool, when an undone split makes them one again. Takes their ids."""
    Move.objects.filter(pool=part).update(pool=pool)


def find_planned_move(member: Member) -> Move | None:
    """Return the member's planned move."""
    return next(iter(list_planned_moves(member)), None)


@cache_rows
def list_planned_moves(member: Member) -> QuerySet[Move]:
    """Return the member's planned move, or no row. Read once for all parts of a page."""
    found = Move.objects.filter(member=member, state=Move.State.PLANNED)
    return found.select_related("by", "room__site", "pool", "member")[:1]


def list_due_moves(today: date) -> QuerySet[Move]:
    """Return the planned moves that are due."""
    return Move.objects.filter(state=Move.State.PLANNED, on__lte=today).select_related("member", "by", "pool", "room").order_by("on", "id")


def list_move_effects(member: Member, pool: Pool | None, *, follow: bool) -> list[HoldingMoveEffect]:
    """Return the effects that a move to this pool would have on the member's current holdings."""
    return [_build_effect(old, pool, follow) for old in _list_leaving(member, pool)] if pool else []


def _list_leaving(member: Member, pool: Pool) -> list[Holding]:
    held = Holding.objects.filter(is_valid_now(), member=member, kind=pool.kind).exclude(pool=pool)
    return list(held.select_related("pool", "device", "member", "group").order_by("prefix"))


def _build_effect(old: Holding, pool: Pool, follow: bool) -> HoldingMoveEffect:
    mapping = NatMapping.objects.filter(is_valid_now(), holding=old).first()
    opened: list[str] = [str(each) for each in (*PortForward.objects.filter(is_valid_now(), holding=old), *_list_pinholes(old))]
    stays = follow and pool.group_id == old.group_id
    return HoldingMoveEffect(old, mapping.public_with_ports if mapping else "", opened if stays else [], [] if stays else opened)


def _list_pinholes(old: Holding) -> QuerySet[Pinhole]:
    return Pinhole.objects.filter(is_valid_now(), holding=old)


def carry_out_move(move: Move) -> bool:
    """Carry the move out now. Return False if another process did, or if it failed: then the reason is saved and it stays planned.

    The move of a member who has left is dropped.
    """
    try:
        with pghistory.context(user=move.by_id, planned=True), transaction.atomic():
            # Lock member, move, pools, holdings and their dependents, in the order used everywhere. Rows may refer to the member meanwhile.
            member = Member.objects.select_for_update(of=("self",), no_key=True).get(pk=move.member_id)
            if member.state == Member.State.LEFT:
                _decide(move, Move.State.DROPPED, problem=_("The membership has ended."))
                return False
            if not _decide(move, Move.State.DONE):
                return False
            _move(move, member)
            enqueue_task("workers.reconcile", move.by_id)
    except Problem as problem:
        Move.objects.filter(pk=move.pk, state=Move.State.PLANNED).update(problem=str(problem)[:LONGEST_PROBLEM])
        return False
    return True


def _decide(move: Move, state: str, *, problem: str = "") -> bool:
    return Move.objects.filter(pk=move.pk, state=Move.State.PLANNED).update(state=state, problem=problem) == 1


def _move(move: Move, member: Member) -> None:
    if move.room:
        Member.objects.filter(pk=member.pk).update(room=move.room, version=F("version") + 1)
    if move.pool:
        list(Pool.objects.select_for_update(of=("self",), no_key=True).filter(group=move.pool.group_id).order_by("pk"))
        leaving = _list_leaving(member, move.pool)
        lock_holdings(*(old.pk for old in leaving))
        for old in leaving:
            _readdress(old, move)


def _readdress(old: Holding, move: Move) -> None:
    """Replace the holding by one of the new pool. It leaves as the same public address if the group stays the same."""
    pool = move.pool
    if pool is None:
        return
    same = pool.group_id == old.group_id
    if old.kind == Pool.Kind.PREFIX6:
        replace_member_prefix(holding=old, follow=move.follow and same, pool=pool, by=move.by)
        return
    new = assign_address(member=old.member, pool=pool, device=old.device, by=move.by)
    mapping = NatMapping.objects.filter(is_valid_now(), holding=old).first()
    if mapping:
        services.map_address(holding=new, public=mapping.public if same else None, by=move.by)
    if move.follow and same:
        for forward in PortForward.objects.filter(is_valid_now(), holding=old).order_by("pk"):
            _follow(forward, new, move.by)
    release_holding(holding=old, by=move.by)


def _follow(forward: PortForward, new: Holding, by: User) -> None:
    services.change_or_replace_forward(
        forward=forward,
        version=forward.version,
        holding=new,
        public=forward.public,
        protocol=forward.protocol,
        public_port=forward.public_port,
        private_port=forward.private_port,
        ports=forward.ports,
        purpose=forward.purpose,
        by=by,
    )
