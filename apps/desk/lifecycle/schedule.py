"""What will happen to a member when, as far as it is decided: for previews, and for the member's page."""

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
class Coming:
    """Something that will happen, with what can still be dropped of it; problem: why it has not happened yet."""

    at: datetime
    what: str
    departure: Departure | None = None
    move: Move | None = None
    problem: str = ""


def midnight(day: date) -> datetime:
    """When a day begins in the site's zone."""
    return timezone.make_aware(datetime.combine(day, time.min))


def after_leaving(member: Member, left_at: datetime) -> list[Coming]:
    """What follows when the member leaves then."""
    held = dependents.count(Member, [member.pk])
    freed = _("Free for others: %(what)s.") % {"what": dependents.in_words(held)}
    erased = _("Personal data are erased. Who held which address when stays known under the number alone.")
    return [*([Coming(departures.released_at(left_at), freed)] if held else []), Coming(departures.erased_at(left_at), erased)]


def coming(member: Member) -> list[Coming]:
    """What is decided, in its order."""
    if member.erased_at:
        return []
    if member.left_at:
        return after_leaving(member, member.left_at)
    departure, move = departures.planned(member), moving.planned(member)
    moves = [Coming(midnight(move.on), in_words(move), move=move, problem=move.problem)] if move else []
    if departure is None:
        return moves
    at = midnight(departure.on)
    gone = Coming(at, _("The membership ends: no access any more."), departure)
    return sorted([*moves, gone, *after_leaving(member, at)], key=lambda each: each.at)


def in_words(move: Move) -> str:
    """Where to, and what becomes of addresses and of what is open there."""
    effects = moving.effects(move.member, move.pool, follow=move.follow)
    said = [_("Moves to %(room)s.") % {"room": move.room}] if move.room else []
    return " ".join([*said, *(line for effect in effects for line in effect_in_words(effect, str(move.pool)))])


def effect_in_words(effect: moving.Effect, pool: str) -> list[str]:
    """A sentence for each thing that changes."""
    facts = {"old": effect.old.address, "pool": pool, "public": effect.public}
    said = [_("%(old)s is released; the next free one of %(pool)s comes in its place.") % facts]
    if effect.following:
        said.append(_("Follows to it: %(what)s.") % {"what": ", ".join(effect.following)})
    if effect.ending:
        said.append(_("Ends: %(what)s.") % {"what": ", ".join(effect.ending)})
    return said
