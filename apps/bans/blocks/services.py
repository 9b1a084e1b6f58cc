"""Write services for blocks of members, and for what a group's blocked members see and reach.

Every refusal is a sentence that names both sides and an alternative. Every write starts a reconciliation with the gateways after
its commit.
"""

from collections.abc import Collection
from datetime import datetime

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, F, Func, QuerySet, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.blocks.models import LONGEST_MESSAGE, Block, Notice, Reachable
from apps.bans.blocks.selectors import filter_blockable, find_current_block, find_end_before_lifting
from apps.lib.database.validity import check_not_too_far_ahead, is_valid_now, make_range_from_now, make_range_until_now
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address
from apps.lib.ui import formats
from apps.members.models import Member


def block_member(*, member: Member, reason: str, message: str = "", note: str = "", until: datetime | None = None, by: User) -> Block:
    """Block a member from now on, with all present and future addresses. Raises Problem if the member is blocked already or has left."""
    _check(reason, message, until)
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left: there is nothing to block.") % {"member": member}, culprit=member)
    given = {"reason": reason, "message": message.strip(), "note": note.strip(), "author": by}
    try:
        with transaction.atomic():
            made = Block.objects.create(member=member, valid=make_range_from_now(until), **given)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explain_integrity_error(error, member) from error
    made.refresh_from_db()
    return made


def block_members(
    *, members: QuerySet[Member], reason: str, message: str = "", note: str = "", until: datetime | None = None, by: User
) -> int:
    """Block those of the members who can be blocked, from now on, all or none; return how many that were.

    Raises Problem if one of them is blocked at the same moment by another request.
    """
    _check(reason, message, until)
    given = {"reason": reason, "message": message.strip(), "note": note.strip(), "author": by}
    try:
        with transaction.atomic():
            made = [
                Block(member_id=pk, valid=make_range_from_now(until), **given)
                for pk in filter_blockable(members).values_list("pk", flat=True)
            ]
            Block.objects.bulk_create(made)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        if "block_one_at_a_time" not in str(error):
            raise
        raise Problem(
            _("One of these members was blocked by someone else at the same moment. Nothing was changed; look at them again.")
        ) from error
    return len(made)


def change_block(*, block: Block, version: int, reason: str, message: str, note: str, until: datetime | None, by: User) -> Block:
    """Change reason, texts and end of a block. Raises Conflict if it changed or was lifted since `version`."""
    _check(reason, message, until)
    given = {"reason": reason, "message": message.strip(), "note": note.strip()}
    with transaction.atomic():
        present = Block.objects.filter(is_valid_now(), pk=block.pk, version=version)
        if not present.update(valid=_build_range(until), version=F("version") + 1, **given):
            raise Conflict(
                _("This block was changed or lifted by someone else while you were editing. Look at it as it is now, then save again.")
            )
        enqueue_task("workers.reconcile", by.pk)
    block.refresh_from_db()
    return block


def set_block_ends(*, blocks: Collection[int], until: datetime | None, by: User) -> int:
    """Set the end of those blocks with these ids that are in force; None: no end. Return how many there were."""
    _check("other", "", until)
    with transaction.atomic():
        changed = Block.objects.filter(is_valid_now(), pk__in=blocks).update(valid=_build_range(until), version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk)
    return changed


def lift_block(*, block: Block, by: User) -> None:
    """End a block now. Lifting it twice is harmless."""
    lift_blocks(blocks=[block.pk], by=by)


def lift_blocks(*, blocks: Collection[int] | QuerySet[Block, int], by: User) -> int:
    """End the blocks with these ids now; return how many were in force."""
    with transaction.atomic():
        present = Block.objects.filter(is_valid_now(), pk__in=blocks)
        lifted = present.update(valid=make_range_until_now(), lifted_by=by, version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk)
    return lifted


def unblock_members(*, members: QuerySet[Member], by: User) -> int:
    """End the blocks of these members now; return how many were blocked."""
    return lift_blocks(blocks=Block.objects.filter(is_valid_now(), member__in=members.values("pk")).values_list("pk", flat=True), by=by)


def restore_block(*, lifted: Block, by: User) -> Block:
    """Make a lifted block again, from now to its former end. Raises Problem if the member is blocked again, or if that end has passed."""
    return block_member(
        member=lifted.member, reason=lifted.reason, message=lifted.message, note=lifted.note, until=find_end_before_lifting(lifted), by=by
    )


def set_notice(*, notice: Notice, version: int, ipv4: Address | None, ipv6: Address | None, port: int, contact: str, by: User) -> Notice:
    """Change the address of the notice page, and the contact. Raises Conflict if they changed since `version`."""
    with transaction.atomic():
        present = Notice.objects.filter(pk=notice.pk, version=version)
        if not present.update(ipv4=ipv4, ipv6=ipv6, port=port, contact=contact.strip(), version=F("version") + 1):
            raise Conflict(_("This was changed by someone else while you were editing. Look at it as it is now, then save again."))
        enqueue_task("workers.reconcile", by.pk)
    notice.refresh_from_db()
    return notice


def add_reachable(*, notice: Notice, name: str, address: Address, protocol: str, port: int, by: User) -> Reachable:
    """Let blocked members reach one more port. Raises Problem if they do already."""
    try:
        with transaction.atomic():
            made = Reachable.objects.create(notice=notice, name=name.strip(), address=address, protocol=protocol, port=port)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        if "reachable_once" not in str(error):
            raise
        facts = {"protocol": protocol.upper(), "port": port, "address": address}
        raise Problem(_("%(protocol)s %(port)d on %(address)s already stays reachable.") % facts, "address") from error
    return made


def remove_reachable(*, reachable: Reachable, by: User) -> None:
    """Close this port to blocked members. Removing it twice is harmless."""
    with transaction.atomic():
        Reachable.objects.filter(pk=reachable.pk).delete()
        enqueue_task("workers.reconcile", by.pk)


def _build_range(until: datetime | None) -> Func:
    """Return the row's range with another end."""
    begins = Func(F("valid"), function="lower", output_field=DateTimeField())
    return Func(begins, Value(until, output_field=DateTimeField()), function="tstzrange", output_field=DateTimeRangeField())


def _check(reason: str, message: str, until: datetime | None) -> None:
    if reason not in Block.Reason.values:
        raise Problem(_("“%(reason)s” is not a valid reason.") % {"reason": reason}, "reason")
    if len(message.strip()) > LONGEST_MESSAGE:
        facts = {"length": len(message.strip()), "limit": LONGEST_MESSAGE}
        raise Problem(_("The message has %(length)d characters; at most %(limit)d are allowed.") % facts, "message")
    check_not_too_far_ahead(until, "until")
    if until is not None and until <= timezone.now():
        raise Problem(
            _("The end, %(end)s, is in the past. Choose a later one, or none.") % {"end": formats.format_full_time(until)}, "until"
        )


def _explain_integrity_error(error: IntegrityError, member: Member) -> Problem:
    """Return the sentence for a refusal by the database.

    A violation of any other constraint is a fault of the portal, and raised unchanged.
    """
    if "block_one_at_a_time" not in str(error):
        raise error
    there = find_current_block(member)
    since = formats.format_full_time(there.valid.lower) if there and there.valid.lower else ""
    facts = {"member": member, "since": since, "reason": there.get_reason_display() if there else ""}
    return Problem(_("%(member)s is blocked already, since %(since)s (%(reason)s). Change that block instead.") % facts, culprit=there)
