"""Departures: planning and carrying them out, then releasing what the member held after the hold period.

A day begins at midnight in the site's zone. Each step is a conditional update or does nothing the second time, so a worker may
run it at any time (workers/lifecycle.py).
"""

from datetime import date, datetime, timedelta

import pghistory
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib import dependents
from apps.lib.database.validity import check_not_too_far_ahead, is_valid_now_or_later
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web.cached_rows import cache_rows
from apps.members import services
from apps.members.models import Departure, Member
from apps.preferences.declarations import ERASE_DAYS, HOLD_DAYS
from apps.preferences.selectors import read_setting


def plan_departure(*, member: Member, on: date, by: User) -> Departure:
    """Plan that the member leaves at the beginning of that day.

    Raises Problem when the day has begun already or is too far away, or when the member has left or a departure is planned
    already.
    """
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left already.") % {"member": member}, culprit=member)
    if on <= timezone.localdate():
        raise Problem(_("Choose a day in the future. To end the membership today, leave the day empty."), "on")
    check_not_too_far_ahead(on, "on")
    try:
        with transaction.atomic():
            return Departure.objects.create(member=member, on=on, by=by)
    except IntegrityError as error:
        if "departure_one_planned" not in str(error):
            raise
        raise Problem(
            _("The departure of %(member)s is already planned. Cancel it first.") % {"member": member}, "on", culprit=member
        ) from error


def cancel_departure(departure: Departure) -> None:
    """Cancel a planned departure. Raises Conflict when it was carried out or cancelled already."""
    if not _decide(departure, Departure.State.DROPPED):
        raise Conflict(_("This is not planned any more. Look at the member again."))


def find_planned_departure(member: Member) -> Departure | None:
    """Return the member's planned departure, None if there is none."""
    return next(iter(list_planned_departures(member)), None)


@cache_rows
def list_planned_departures(member: Member) -> QuerySet[Departure]:
    """Return the member's planned departure, or no row. Read once for all parts of a page."""
    return Departure.objects.filter(member=member, state=Departure.State.PLANNED).select_related("by")[:1]


def list_due_departures(today: date) -> QuerySet[Departure]:
    """Return the planned departures that are due on that day."""
    return Departure.objects.filter(state=Departure.State.PLANNED, on__lte=today).select_related("member", "by").order_by("on", "id")


def carry_out_departure(departure: Departure) -> bool:
    """End the membership as planned. Return False when another process carried the departure out first, or it was cancelled."""
    with pghistory.context(user=departure.by_id, planned=True), transaction.atomic():
        if not _decide(departure, Departure.State.DONE):
            return False
        services.end_membership(member=departure.member, by=departure.by)
    return True


def _decide(departure: Departure, state: str) -> bool:
    return Departure.objects.filter(pk=departure.pk, state=Departure.State.PLANNED).update(state=state) == 1


def compute_release_time(left_at: datetime) -> datetime:
    """Return when the holdings of a member who left at that time become free for others."""
    return left_at + timedelta(days=read_setting(HOLD_DAYS))


def compute_erasure_time(left_at: datetime) -> datetime:
    """Return when the personal data of a member who left at that time are erased: never before the holdings are released."""
    return left_at + timedelta(days=max(read_setting(ERASE_DAYS), read_setting(HOLD_DAYS)))


def list_releasable(now: datetime) -> QuerySet[Member]:
    """Return the members whose hold period is over and who still have holdings."""
    over = Member.objects.filter(state=Member.State.LEFT, left_at__lte=now - timedelta(days=read_setting(HOLD_DAYS)))
    return over.filter(is_valid_now_or_later("holdings__valid")).distinct().order_by("pk")


@transaction.atomic
def release_departed(who: Member) -> bool:
    """End what is held for the member. Return False when the member has come back meanwhile, or nothing was held."""
    still = Member.objects.filter(state=Member.State.LEFT, pk=who.pk, left_at=who.left_at)
    ended = dependents.end_dependents(Member, list(still.select_for_update(of=("self",)).values_list("pk", flat=True)))
    enqueue_task("workers.reconcile")
    return bool(ended)
