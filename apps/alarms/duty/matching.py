"""Whose shift an event of a calendar is. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.alarms.duty.calendar_events import EventOccurrence
from apps.lib.email_address import lower_ascii


class MatchReason(StrEnum):
    """Why an event is nobody's shift."""

    NOBODY = "nobody"
    SEVERAL = "several"


@dataclass(frozen=True)
class DutyCandidate:
    """A person who may be on duty."""

    pk: int
    username: str
    name: str
    email: str


@dataclass(frozen=True)
class MatchFailure:
    """No person, or several of these names."""

    reason: MatchReason
    names: Sequence[str] = ()


def match_person(occurrence: EventOccurrence, candidates: Sequence[DutyCandidate]) -> DutyCandidate | MatchFailure:
    """Return the one person whom the event names: among its attendees, in its summary, or as its organizer. Several attendees are one if
    the summary names one of them.
    """
    attending = _filter_by_address(candidates, occurrence.attendees)
    named = [each for each in candidates if _names(occurrence.summary, each)]
    both = [each for each in attending if each in named]
    organizer = _filter_by_address(candidates, (occurrence.organizer,))
    found = next((each for each in (both, attending, named, organizer) if each), [])
    if len(found) == 1:
        return found[0]
    return MatchFailure(MatchReason.SEVERAL if found else MatchReason.NOBODY, [each.name for each in found])


def _filter_by_address(candidates: Sequence[DutyCandidate], addresses: Iterable[str]) -> list[DutyCandidate]:
    known = {lower_ascii(each) for each in addresses if each}
    return [each for each in candidates if each.email and lower_ascii(each.email) in known]


def _names(summary: str, candidate: DutyCandidate) -> bool:
    """True if the summary contains the username or the full name as whole words, in any case."""
    return any(
        re.search(rf"(?<!\w){re.escape(each)}(?!\w)", summary, re.IGNORECASE) for each in (candidate.username, candidate.name) if each
    )
