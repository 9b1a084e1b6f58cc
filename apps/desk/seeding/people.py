"""Members as they could be: who they are, where they live, since when, what they pay and what they bring. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Final

from apps.desk.seeding.devices import Device, devices, macs
from apps.desk.seeding.houses import Room, rooms
from apps.desk.seeding.names import Name, name
from apps.members.models import Member

FIRST_NUMBER: Final = 2207
DOMAIN: Final = "lindenhof.example"
TARIFFS: Final = {"Standard": 8, "Trial": 2, "Staff": 32}  # with the most forwards each allows
_STATES: Final = (Member.State.ACTIVE, Member.State.LEFT, Member.State.PENDING)
_OF_A_HUNDRED: Final = (87, 9, 4)
_NOTES: Final = (
    "Has a key for the server room.",
    "Pays in cash at the office hour.",
    "Subletting until March.",
    "Prefers to be called after 18:00.",
)


@dataclass(frozen=True, slots=True)
class Person:
    """A member. `left` is set for those who did."""

    number: int
    name: str
    email: str
    language: str
    state: str
    tariff: str
    room: Room | None
    since: date
    left: date | None
    paid_until: date | None
    note: str
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class Resident:
    """Somebody the demo knows by name, who is active and lives in this room."""

    name: Name
    room: Room
    since: date


def people(random: Random, count: int, today: date, residents: Sequence[Resident] = ()) -> list[Person]:
    """So many members, the residents first."""
    known = {resident.room for resident in residents}
    free = [room for room in rooms(count) if room not in known]
    random.shuffle(free)
    addresses, mailboxes = macs(random), Counter[str]()
    made = []
    for index in range(count):
        resident = residents[index] if index < len(residents) else None
        who = resident.name if resident else name(random)
        state = Member.State.ACTIVE if resident else random.choices(_STATES, _OF_A_HUNDRED)[0]
        since, left = _times(random, state, today)
        mailboxes[who.mailbox] += 1
        made.append(
            Person(
                number=FIRST_NUMBER + index,
                name=who.full,
                email=_email(who.mailbox, mailboxes[who.mailbox]),
                language=who.language,
                state=state,
                tariff="Standard" if resident else _tariff(random, since, today),
                room=_room(resident, state, free),
                since=resident.since if resident else since,
                left=left,
                paid_until=_paid(random, state, today, late=not resident and random.random() < 1 / 12),
                note=random.choice(_NOTES) if random.random() < 0.03 else "",
                devices=devices(random, addresses),
            )
        )
    return made


def _times(random: Random, state: str, today: date) -> tuple[date, date | None]:
    """When somebody came, usually when a term began, and left."""
    if state == Member.State.PENDING:
        return today - timedelta(days=random.randrange(7)), None
    term = date(today.year - random.randrange(5), random.choice((4, 10, 10, 10)), 1)
    since = min(term + timedelta(days=int(random.expovariate(1 / 12))), today - timedelta(days=random.randrange(2, 60)))
    if state == Member.State.ACTIVE:
        return since, None
    since = min(since, today - timedelta(days=120))
    return since, since + timedelta(days=random.randrange(60, max(61, (today - since).days - 1)))


def _tariff(random: Random, since: date, today: date) -> str:
    if (today - since).days < 30:
        return "Trial"
    return "Staff" if random.random() < 0.04 else "Standard"


def _room(resident: Resident | None, state: str, free: list[Room]) -> Room | None:
    if resident:
        return resident.room
    return None if state == Member.State.LEFT else free.pop()


def _paid(random: Random, state: str, today: date, *, late: bool) -> date | None:
    """The end of a month: of one that has passed for those who are late or have left."""
    if state == Member.State.PENDING:
        return None
    months = random.randrange(-3, 0) if late or state == Member.State.LEFT else random.choice((1, 4, 4, 10))
    following = today.year * 12 + today.month + months
    return date(following // 12, following % 12 + 1, 1) - timedelta(days=1)


def _email(mailbox: str, times: int) -> str:
    return f"{mailbox}{times if times > 1 else ''}@{DOMAIN}"
