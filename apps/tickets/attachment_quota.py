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
class AttachmentQuota:
    """What is used of a limit."""

    used: int
    limit: int

    @property
    def left(self) -> int:
        return max(self.limit - self.used, 0)


def get_total_quota() -> AttachmentQuota:
    """Of all files."""
    return AttachmentQuota(_sum_sizes(Q()), settings.ATTACHMENTS_TOTAL_OCTETS)


def get_member_quota(member: Member) -> AttachmentQuota:
    """Of what the member sent, by page or by mail; files of staff count for nobody but in total."""
    sent = Q(message__ticket__member=member, message__kind=Message.Kind.MEMBER)
    return AttachmentQuota(_sum_sizes(sent), settings.ATTACHMENTS_MEMBER_OCTETS)


def get_strangers_quota() -> AttachmentQuota:
    """Of what came in tickets of nobody."""
    sent = Q(message__ticket__member=None, message__kind=Message.Kind.MEMBER)
    return AttachmentQuota(_sum_sizes(sent), settings.ATTACHMENTS_TOTAL_OCTETS // STRANGERS)


def get_tightest_quota(message: Message) -> AttachmentQuota:
    """The quota that leaves the message the least room."""
    whole = get_total_quota()
    if message.kind != Message.Kind.MEMBER:
        return whole
    member = message.ticket.member
    own = get_member_quota(member) if member else get_strangers_quota()
    return min(own, whole, key=lambda quota: quota.left)


def check_room(message: Message, size: int) -> None:
    """Raises Problem when the files of a message do not fit."""
    quota = get_tightest_quota(message) if size else None
    if quota is None or size <= quota.left:
        return
    facts = {"size": formats.format_volume(size), "left": formats.format_volume(quota.left), "limit": formats.format_volume(quota.limit)}
    words = _(
        "These files have %(size)s, and of %(limit)s only %(left)s are left. Send fewer, or ask the administrators to remove old ones."
    )
    raise Problem(words % facts, "files")


def _sum_sizes(where: Q) -> int:
    return Attachment.objects.filter(where).aggregate(sum=Sum("size"))["sum"] or 0
