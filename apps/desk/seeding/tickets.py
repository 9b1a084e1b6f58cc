"""Seeded tickets: one in each state, and one from an unknown sender. No mail is sent for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max

from apps.accounts.models import User
from apps.members.models import Member
from apps.tickets.canned import add_canned_answer
from apps.tickets.models import Canned, Message, Ticket

STRANGER: Final = "office@moving-company.example"


@dataclass(frozen=True, slots=True)
class SeedMessage:
    """A message. `who`: the user name of staff, "" for the person who opened the ticket; `after`: time since it was opened."""

    who: str
    after: timedelta
    text: str
    note: bool = False


@dataclass(frozen=True, slots=True)
class SeedThread:
    """A ticket with its messages.

    `member`: index among the lab's hosts; None: STRANGER wrote by mail. `ago`: how long ago it was opened.
    """

    member: int | None
    ago: timedelta
    subject: str
    state: str
    said: tuple[SeedMessage, ...]
    priority: int = Ticket.Priority.NORMAL
    assignee: str = ""
    tags: tuple[str, ...] = ()


NOW: Final = timedelta(0)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
THREADS: Final = (
    SeedThread(
        2, 9 * DAY, "Paid, but my rate is still that of a trial", Ticket.State.SOLVED,
        (
            SeedMessage("", NOW, "Hello,\n\nI paid on Friday at the office hour and still get 5 Mbit/s.\n\nTunde"),
            SeedMessage("jakob", 40 * MINUTE, "The list of payments was a week old. You have the standard tariff now, on both gateways."),
            SeedMessage("", 50 * MINUTE, "Fast again, thank you!"),
        ),
        assignee="jakob", tags=("payment",),
    ),
    SeedThread(
        0, 2 * DAY, "WireGuard von unterwegs verbindet nicht", Ticket.State.WAITING,
        (
            SeedMessage("", NOW, "Hallo,\n\nvom Handy aus komme ich seit gestern nicht mehr auf mein WireGuard im Zimmer.\n\nSelin"),
            SeedMessage("mara", 25 * MINUTE, "Portfreigabe 51820 ist auf beiden Gateways aktiv, es kommt aber nichts zurück.", note=True),
            SeedMessage(
                "mara", 30 * MINUTE, "Hallo Selin,\n\ndie Freigabe 51820 ist aktiv. Hört WireGuard auf dem Laptop auf 51820?\n\nMara"
            ),
        ),
        assignee="mara", tags=("forward", "vpn"),
    ),
    SeedThread(
        3, 5 * HOUR, "No IPv6 since I changed rooms", Ticket.State.REOPENED,
        (
            SeedMessage("", NOW, "Since the move on Monday my computer has no IPv6 address. IPv4 works."),
            SeedMessage("jakob", HOUR, "Your prefix moved with you. Please unplug the cable for a minute."),
            SeedMessage("", 3 * HOUR, "I did, and it is the same as before. Windows says “no IPv6 access”."),
        ),
        priority=Ticket.Priority.HIGH, assignee="jakob", tags=("ipv6",),
    ),
    SeedThread(
        1, 2 * HOUR, "Minecraft-Server ruckelt abends", Ticket.State.OPEN,
        (
            SeedMessage(
                "", NOW, "Ab etwa 20 Uhr brechen Verbindungen auf Port 25565 ab. Tagsüber ist alles gut. Liegt das am Netz?\n\nJonas"
            ),
        ),
        tags=("forward",),
    ),
    SeedThread(
        None, HOUR, "Anlieferung am Mittwoch", Ticket.State.OPEN,
        (SeedMessage("", NOW, "Guten Tag,\n\nwann können wir am Mittwoch an die Rampe fahren?"),), priority=Ticket.Priority.LOW,
    ),
)  # fmt: skip
CANNED: Final = Canned(
    name="Router statt Switch",
    text_de="Hallo {name},\n\nbei dir antwortet ein Router auf DHCP-Anfragen. Bitte stecke das Kabel der Wand in die Buchse „WAN“.\n\n{me}",
    text_en="Hello {name},\n\na router of yours answers DHCP requests. Please plug the wall’s cable into its port “WAN”.\n\n{me}",
)


def seed_tickets(members: Sequence[int], now: datetime) -> None:
    """Create the tickets and a canned answer. members: ids of the members on the lab's hosts, in their order."""
    known = Member.objects.select_related("user").in_bulk(members)
    staff = {user.username: user for user in User.objects.filter(username__in=("mara", "jakob"))}
    for thread in THREADS:
        _make_thread(thread, known[members[thread.member]] if thread.member is not None else None, staff, now)
    add_canned_answer(name=CANNED.name, text_de=CANNED.text_de, text_en=CANNED.text_en, by=staff["mara"])


def _make_thread(thread: SeedThread, member: Member | None, staff: dict[str, User], now: datetime) -> None:
    opened = now - thread.ago
    ticket = Ticket.objects.create(
        subject=thread.subject, member=member, address="" if member else STRANGER, language=member.language if member else "de",
        state=thread.state, priority=thread.priority, assignee=staff.get(thread.assignee), tags=sorted(thread.tags), opened_at=opened,
        first_answered_at=min((opened + each.after for each in thread.said if each.who and not each.note), default=None),
    )  # fmt: skip
    Ticket.pgh_event_model.objects.filter(pgh_obj_id=ticket.pk).update(pgh_created_at=opened)  # type: ignore[attr-defined]  # of pghistory
    asks = member.user if member else None
    sender = "" if asks else member.email if member else STRANGER
    for said in thread.said:
        Message.objects.create(
            ticket=ticket, kind=_choose_kind(said), author=staff[said.who] if said.who else asks, text=said.text,
            at=opened + said.after, sender="" if said.who else sender, via=Message.Via.WEB if said.who or not sender else Message.Via.MAIL,
        )  # fmt: skip
    Ticket.objects.filter(pk=ticket.pk).update(touched_at=Message.objects.filter(ticket=ticket).aggregate(last=Max("at"))["last"])


def _choose_kind(said: SeedMessage) -> str:
    return Message.Kind.NOTE if said.note else Message.Kind.ANSWER if said.who else Message.Kind.MEMBER
