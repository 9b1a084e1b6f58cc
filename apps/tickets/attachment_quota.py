"""Quotas of the files in tickets, in octets: of one member, of all strangers together, and of all files.

Files are in the database and in its backups, so their size must be limited. Concurrent requests may exceed a quota by what they send.
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

STRANGERS: Final = 4  # files in tickets without a member may take one part in so many of the total


@dataclass(frozen=True)
class AttachmentQuota:
    """Octets used of a limit."""

    used: int
    limit: int

    @property
    def free_octets(self) -> int:
        return max(self.limit - self.used, 0)


def get_total_quota() -> AttachmentQuota:
    """Return the quota of all files."""
    return AttachmentQuota(_sum_sizes(Q()), settings.ATTACHMENTS_TOTAL_OCTETS)


def get_member_attachment_quota(member: Member) -> AttachmentQuota:
    """Return the quota of the files that the member sent, by web or mail. Files of staff count in the total only."""
    sent = Q(message__ticket__member=member, message__kind=Message.Kind.MEMBER)
    return AttachmentQuota(_sum_sizes(sent), settings.ATTACHMENTS_MEMBER_OCTETS)


def get_strangers_quota() -> AttachmentQuota:
    """Return the quota of the files that came in tickets without a member."""
    sent = Q(message__ticket__member=None, message__kind=Message.Kind.MEMBER)
    return AttachmentQuota(_sum_sizes(sent), settings.ATTACHMENTS_TOTAL_OCTETS // STRANGERS)


def get_tightest_quota(message: Message) -> AttachmentQuota:
    """Return the quota that leaves the least room for the message."""
    whole = get_total_quota()
    if message.kind != Message.Kind.MEMBER:
        return whole
    member = message.ticket.member
    own = get_member_attachment_quota(member) if member else get_strangers_quota()
    return min(own, whole, key=lambda quota: quota.free_octets)


def check_attachment_quota(message: Message, size: int) -> None:
    """Raise Problem when files of this size (octets) exceed a quota of the message."""
    quota = get_tightest_quota(message) if size else None
    if quota is None or size <= quota.free_octets:
        return
    facts = {
        "size": formats.format_volume(size),
        "left": formats.format_volume(quota.free_octets),
        "limit": formats.format_volume(quota.limit),
    }
    words = _(
        "These files have %(size)s, but only %(left)s of %(limit)s are left. Send fewer, or ask the administrators to remove old ones."
    )
    raise Problem(words % facts, "files")


def _sum_sizes(where: Q) -> int:
    return Attachment.objects.filter(where).aggregate(sum=Sum("size"))["sum"] or 0
