"""Seeded members: their names, rooms, tariffs, dates of membership and payment, and devices. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Final

from apps.desk.seeding.devices import SeedDevice, iter_macs, make_devices
from apps.desk.seeding.houses import SeedRoom, make_rooms
from apps.desk.seeding.names import PersonName, make_name
from apps.members.models import Member

FIRST_NUMBER: Final = 2207
DOMAIN: Final = "lindenhof.example"
TARIFFS: Final = {"Standard": 8, "Trial": 2, "Staff": 32}  # each with the most forwards it allows
_STATES: Final = (Member.State.ACTIVE, Member.State.LEFT, Member.State.PENDING)
_OF_A_HUNDRED: Final = (87, 9, 4)
_NOTES: Final = (
    "Has a key for the server room.",
    "Pays in cash at the office hour.",
    "Subletting until March.",
    "Prefers to be called after 18:00.",
)


@dataclass(frozen=True, slots=True)
class SeedPerson:
    """A member. `left` is set for those who left."""

    number: int
    name: str
    email: str
    language: str
    state: str
    tariff: str
    room: SeedRoom | None
    since: date
    left: date | None
    paid_until: date | None
    note: str
    devices: tuple[SeedDevice, ...]


@dataclass(frozen=True, slots=True)
class NamedResident:
    """An active member whom the demo knows by name and room."""

    name: PersonName
    room: SeedRoom
    since: date


def make_people(random: Random, count: int, today: date, residents: Sequence[NamedResident] = ()) -> list[SeedPerson]:
    """Return `count` members, the residents first."""
    known = {resident.room for resident in residents}
    free = [room for room in make_rooms(count) if room not in known]
    random.shuffle(free)
    addresses, mailboxes = iter_macs(random), Counter[str]()
    made = []
    for index in range(count):
        resident = residents[index] if index < len(residents) else None
        who = resident.name if resident else make_name(random)
        state = Member.State.ACTIVE if resident else random.choices(_STATES, _OF_A_HUNDRED)[0]
        since, left = _pick_times(random, state, today)
        mailboxes[who.mailbox] += 1
        made.append(
            SeedPerson(
                number=FIRST_NUMBER + index,
                name=who.full,
                email=_make_email(who.mailbox, mailboxes[who.mailbox]),
                language=who.language,
                state=state,
                tariff="Standard" if resident else _pick_tariff(random, since, today),
                room=_pick_room(resident, state, free),
                since=resident.since if resident else since,
                left=left,
                paid_until=_pick_paid_until(random, state, today, late=not resident and random.random() < 1 / 12),
                note=random.choice(_NOTES) if random.random() < 0.03 else "",
                devices=make_devices(random, addresses),
            )
        )
    return made


def _pick_times(random: Random, state: str, today: date) -> tuple[date, date | None]:
    """Pick when a member joined, usually at the beginning of a term, and left."""
    if state == Member.State.PENDING:
        return today - timedelta(days=random.randrange(7)), None
    term = date(today.year - random.randrange(5), random.choice((4, 10, 10, 10)), 1)
    since = min(term + timedelta(days=int(random.expovariate(1 / 12))), today - timedelta(days=random.randrange(2, 60)))
    if state == Member.State.ACTIVE:
        return since, None
    since = min(since, today - timedelta(days=120))
    return since, since + timedelta(days=random.randrange(60, max(61, (today - since).days - 1)))


def _pick_tariff(random: Random, since: date, today: date) -> str:
    if (today - since).days < 30:
        return "Trial"
    return "Staff" if random.random() < 0.04 else "Standard"


def _pick_room(resident: NamedResident | None, state: str, free: list[SeedRoom]) -> SeedRoom | None:
    if resident:
        return resident.room
    return None if state == Member.State.LEFT else free.pop()


def _pick_paid_until(random: Random, state: str, today: date, *, late: bool) -> date | None:
    """Pick the end of a month: a past one for members who are late with paying or have left."""
    if state == Member.State.PENDING:
        return None
    months = random.randrange(-3, 0) if late or state == Member.State.LEFT else random.choice((1, 4, 4, 10))
    following = today.year * 12 + today.month + months
    return date(following // 12, following % 12 + 1, 1) - timedelta(days=1)


def _make_email(mailbox: str, times: int) -> str:
    return f"{mailbox}{times if times > 1 else ''}@{DOMAIN}"
