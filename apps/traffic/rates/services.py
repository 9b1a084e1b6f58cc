"""Services that limit members' rates for a time and release them, set uplinks, and switch rate limits on or off for a group.

Fair share, the rule that watches the uplink, calls `limit_members`. Every write enqueues a reconcile after its commit; limits end in the
kernels by themselves.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, F, Func, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import check_not_too_far_ahead, is_valid_now, make_range_from_now, make_range_until_now
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, Member
from apps.network.models import GatewayGroup, Uplink
from apps.network.uplink import LineFraming
from apps.traffic.rates.fair_queues import check_queues
from apps.traffic.rates.models import RateLimit
from apps.traffic.rates.selectors import find_current_limit, get_uplink


class LimitMembersOutcome(NamedTuple):
    """Numbers of members. made: newly limited; renewed: limited before for the same reason, now with this rate and end; kept: limited
    for another reason, unchanged.
    """

    made: int
    renewed: int
    kept: int


def limit_member(
    *,
    member: Member,
    up_kbit: int | None,
    down_kbit: int | None,
    reason: str,
    note: str = "",
    until: datetime | None = None,
    by: User,
) -> RateLimit:
    """Limit the member's rate through the uplink, in kbit/s by direction; None: only the tariff's rate applies in that direction.

    until: None means until the limit is released. Raise Problem for values that are not allowed, when the member has left, or when a
    limit holds already.
    """
    _check(up_kbit, down_kbit, reason, until)
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left: there is nothing to limit.") % {"member": member}, culprit=member)
    given: dict[str, Any] = {"up_kbit": up_kbit, "down_kbit": down_kbit, "reason": reason, "note": note.strip(), "author": by}
    try:
        with transaction.atomic():
            made = RateLimit.objects.create(member=member, valid=make_range_from_now(until), **given)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explain_integrity_error(error, member) from error
    made.refresh_from_db()
    return made


def replace_limit(*, present: RateLimit, by: User, **given: Any) -> RateLimit:
    """Replace the member's present limit in one transaction, so that there is no moment without one. given: as for `limit_member`.

    Raise Problem as `limit_member` does; then the present limit stays.
    """
    with transaction.atomic():
        release_rate_limits(limits=[present.pk], by=by)
        return limit_member(member=present.member, by=by, **given)


def limit_members(
    *,
    members: Collection[int],
    up_kbit: int | None,
    down_kbit: int | None,
    until: datetime,
    reason: str = RateLimit.Reason.CONGESTION,
    by: User | None = None,
) -> LimitMembersOutcome:
    """Limit all members with these ids who have not left. Limits for the same reason get this rate and end; limits for another reason
    stay as they are. Idempotent. by: None for a rule.

    Raise Problem for values that are not allowed, and Conflict when another transaction limits one of them at the same moment; then
    nothing has changed, and the caller may try again.
    """
    _check(up_kbit, down_kbit, reason, until)
    rate = {"up_kbit": up_kbit, "down_kbit": down_kbit}
    try:
        with transaction.atomic():
            there = RateLimit.objects.filter(is_valid_now(), member__in=members).select_for_update(of=("self",))
            limited = dict(there.values_list("member", "reason"))
            same = [member for member, why in limited.items() if why == reason]
            renewed = RateLimit.objects.filter(is_valid_now(), member__in=same).update(
                valid=_build_range(until), version=F("version") + 1, **rate
            )
            fresh = Member.objects.filter(pk__in=set(members) - limited.keys()).exclude(state=Member.State.LEFT)
            made = [
                RateLimit(member=each, valid=make_range_from_now(until), reason=reason, author=by, **rate) for each in fresh.order_by("pk")
            ]
            RateLimit.objects.bulk_create(made, batch_size=1000)
            enqueue_task("workers.reconcile", by.pk if by else None)
    except IntegrityError as error:
        if "ratelimit_one_at_a_time" not in str(error):
            raise
        raise Conflict(_("One of these members was limited by someone else at the same moment. Nothing was changed; try again.")) from error
    return LimitMembersOutcome(len(made), renewed, len(limited) - len(same))


def release_rate_limits(*, limits: Collection[int], by: User | None) -> int:
    """End the rate limits with these ids now. Return the number of those that held. Idempotent. by: None for a rule."""
    with transaction.atomic():
        present = RateLimit.objects.filter(is_valid_now(), pk__in=limits)
        released = present.update(valid=make_range_until_now(), released_by=by, version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk if by else None)
    return released


def set_uplink(
    *,
    group: GatewayGroup,
    version: int,
    up_kbit: int | None,
    down_kbit: int | None,
    limits_rates: bool,
    queue_up_kbit: int | None = None,
    queue_down_kbit: int | None = None,
    framing: str = LineFraming.RAW,
    by: User,
) -> Uplink:
    """Set the rates of the group's uplink, the switch of rate limits, and the rates of its fair queues.

    Raise Conflict when the uplink changed since `version`, else Problem.
    """
    values: dict[str, Any] = {"up_kbit": up_kbit, "down_kbit": down_kbit, "limits_rates": limits_rates}
    values |= {"queue_up_kbit": queue_up_kbit, "queue_down_kbit": queue_down_kbit, "framing": framing}
    saved = get_uplink(group)
    check_queues(saved, Uplink(group=group, **values))
    conflict = Conflict(_("This uplink was changed by someone else while you were editing. Look at it as it is now, then save again."))
    if saved.version != version:
        raise conflict
    try:
        with transaction.atomic():
            if not version:
                Uplink.objects.create(group=group, **values)
            elif not Uplink.objects.filter(pk=saved.pk, version=version).update(version=F("version") + 1, **values):
                raise conflict
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        if "group_id" not in str(error):
            raise
        raise conflict from error
    return get_uplink(group)


def switch_rate_limits(*, group: GatewayGroup, on: bool, by: User) -> Uplink:
    """Switch rate limits on or off in this group. No change when the switch stands that way already."""
    now = get_uplink(group)
    if now.limits_rates == on:
        return now
    kept = {name: getattr(now, name) for name in ("up_kbit", "down_kbit", "queue_up_kbit", "queue_down_kbit", "framing")}
    return set_uplink(group=group, version=now.version, limits_rates=on, by=by, **kept)


def _build_range(until: datetime) -> Func:
    """Return an expression for the row's range with another end."""
    begins = Func(F("valid"), function="lower", output_field=DateTimeField())
    return Func(begins, Value(until, output_field=DateTimeField()), function="tstzrange", output_field=DateTimeRangeField())


def _check(up_kbit: int | None, down_kbit: int | None, reason: str, until: datetime | None) -> None:
    if reason not in RateLimit.Reason.values:
        raise Problem(_("“%(reason)s” is not a valid reason.") % {"reason": reason}, "reason")
    if up_kbit is None and down_kbit is None:
        raise Problem(_("Enter a download rate, an upload rate, or both."), "down_kbit")
    for fieldname, rate in (("up_kbit", up_kbit), ("down_kbit", down_kbit)):
        if rate is not None and not LOWEST_KBIT <= rate <= HIGHEST_KBIT:
            facts = {"rate": rate, "lowest": LOWEST_KBIT, "highest": HIGHEST_KBIT}
            raise Problem(_("%(rate)d kbit/s is not between %(lowest)d and %(highest)d.") % facts, fieldname)
    check_not_too_far_ahead(until, "until")
    if until is not None and until <= timezone.now():
        raise Problem(
            _("The end, %(end)s, is in the past. Choose a later one, or none.") % {"end": formats.format_full_time(until)}, "until"
        )


def _explain_integrity_error(error: IntegrityError, member: Member) -> Problem:
    """Return the Problem for the constraint of one limit at a time. An error of any other constraint is a bug, and raised as it is."""
    if "ratelimit_one_at_a_time" not in str(error):
        raise error
    there = find_current_limit(member)
    since = formats.format_full_time(there.valid.lower) if there and there.valid.lower else ""
    facts = {"member": member, "since": since, "reason": there.get_reason_display() if there else ""}
    text = _("The rate of %(member)s has already been limited since %(since)s (%(reason)s). Release that limit first.")
    return Problem(text % facts, culprit=there)
