"""Scheduled changes of a member, as far as they are decided: for previews, and for the member's page."""

from dataclasses import dataclass
from datetime import date, datetime, time

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib import dependents
from apps.members import departures
from apps.members.models import Departure, Member
from apps.nat.moving import services as moving
from apps.nat.moving.models import Move


@dataclass(frozen=True)
class ScheduledChange:
    """A future change, with the departure or move that can still be cancelled. problem: why a due move was not carried out."""

    at: datetime
    what: str
    departure: Departure | None = None
    move: Move | None = None
    problem: str = ""


def compute_midnight(day: date) -> datetime:
    """Return when a day begins in the site's zone."""
    return timezone.make_aware(datetime.combine(day, time.min))


def list_leaving_effects(member: Member, left_at: datetime) -> list[ScheduledChange]:
    """Return the changes that follow when the member leaves at that time."""
    held = dependents.count_dependents(Member, [member.pk])
    freed = _("Free for others: %(what)s.") % {"what": dependents.describe_ended(held)}
    erased = _("Personal data is erased. The history of addresses stays, under the member’s number only.")
    return [
        *([ScheduledChange(departures.compute_release_time(left_at), freed)] if held else []),
        ScheduledChange(departures.compute_erasure_time(left_at), erased),
    ]


def list_scheduled(member: Member) -> list[ScheduledChange]:
    """Return the decided changes in the order of time."""
    if member.erased_at:
        return []
    if member.left_at:
        return list_leaving_effects(member, member.left_at)
    departure, move = departures.find_planned_departure(member), moving.find_planned_move(member)
    moves = [_build_scheduled_move(move, departure)] if move else []
    if departure is None:
        return moves
    at = compute_midnight(departure.on)
    gone = ScheduledChange(at, _("The membership ends, and with it internet access."), departure)
    return sorted([gone, *moves, *list_leaving_effects(member, at)], key=lambda each: each.at)


def _build_scheduled_move(move: Move, departure: Departure | None) -> ScheduledChange:
    gone = departure is not None and departure.on <= move.on
    what = _("This move will be cancelled, because the membership ends first.") if gone else describe_move(move)
    return ScheduledChange(compute_midnight(move.on), what, move=move, problem=move.problem)


def describe_move(move: Move) -> str:
    """Describe the new room, and what happens to addresses and to the forwards and pinholes there."""
    effects = moving.list_move_effects(move.member, move.pool, follow=move.follow)
    said = [_("Moves to %(room)s.") % {"room": move.room}] if move.room else []
    return " ".join([*said, *(line for effect in effects for line in describe_effect(effect, str(move.pool)))])


def describe_effect(effect: moving.HoldingMoveEffect, pool: str) -> list[str]:
    """Return a sentence for each thing that changes."""
    facts = {"old": effect.old.address, "pool": pool, "public": effect.public}
    said = [_("%(old)s is released and replaced by the next free address of %(pool)s.") % facts]
    if effect.following:
        said.append(_("Moves to the new address: %(what)s.") % {"what": ", ".join(effect.following)})
    if effect.ending:
        said.append(_("Ends: %(what)s.") % {"what": ", ".join(effect.ending)})
    return said
