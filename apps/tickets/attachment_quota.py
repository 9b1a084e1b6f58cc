"""Quota of the files in tickets: how much one member may keep there, strangers together, and everybody in total.

Files lie in the database and in its backups, so that nobody may fill it. Two who send at the same moment may go beyond by what they send.
Sizes in octets.
"""

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import Q, Sum
from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.members.models import Member
from apps.tickets.models import Attachment, Message

STRANGERS: Final = 4  # a part of the total that files in tickets of nobody may take


@dataclass(frozen=True)
class Quota:
    """What is used of a limit."""

    used: int
    limit: int

    @property
    def left(self) -> int:
        return max(self.limit - self.used, 0)


def total() -> Quota:
    """Of all files."""
    return Quota(_size_of(Q()), settings.ATTACHMENTS_TOTAL_OCTETS)


def of_member(member: Member) -> Quota:
    """Of what the member sent, by page or by mail; files of staff count for nobody but in total."""
    sent = Q(message__ticket__member=member, message__kind=Message.Kind.MEMBER)
    return Quota(_size_of(sent), settings.ATTACHMENTS_MEMBER_OCTETS)


def of_strangers() -> Quota:
    """Of what came in tickets of nobody."""
    sent = Q(message__ticket__member=None, message__kind=Message.Kind.MEMBER)
    return Quota(_size_of(sent), settings.ATTACHMENTS_TOTAL_OCTETS // STRANGERS)


def room_for(message: Message) -> Quota:
    """The quota that leaves the message the least room."""
    whole = total()
    if message.kind != Message.Kind.MEMBER:
        return whole
    member = message.ticket.member
    own = of_member(member) if member else of_strangers()
    return min(own, whole, key=lambda quota: quota.left)


def check_room(message: Message, size: int) -> None:
    """Raises Problem when the files of a message do not fit."""
    quota = room_for(message) if size else None
    if quota is None or size <= quota.left:
        return
    facts = {"size": formats.volume(size), "left": formats.volume(quota.left), "limit": formats.volume(quota.limit)}
    words = _(
        "These files have %(size)s, and of %(limit)s only %(left)s are left. Send fewer, or ask the administrators to remove old ones."
    )
    raise Problem(words % facts, "files")


def _size_of(where: Q) -> int:
    return Attachment.objects.filter(where).aggregate(sum=Sum("size"))["sum"] or 0
