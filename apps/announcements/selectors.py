"""Read queries of staff's pages: the list, and how far the mails of an announcement are."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from apps.announcements.models import Announcement, AnnouncementRecipient

Delivery = AnnouncementRecipient.Delivery


@dataclass(frozen=True)
class DeliveryProgress:
    """Numbers of an announcement's recipients. reached: all; late: those who came after publication.

    mails: how many mails there are or will be. sent, failed, discarded: of these. no_address, unwanted, left, stopped: members who got
    none, and why. seen: members who dismissed it.
    """

    reached: int
    late: int
    mails: int
    sent: int
    failed: int
    discarded: int
    no_address: int
    unwanted: int
    left: int
    stopped: int
    seen: int

    @property
    def unsent(self) -> int:
        """Number of mails that still leave."""
        return self.mails - self.sent - self.failed - self.discarded

    @property
    def without_mail(self) -> int:
        return self.no_address + self.unwanted + self.left + self.stopped


def list_announcements() -> QuerySet[Announcement]:
    """Return all announcements, the newest first."""
    return Announcement.objects.select_related("author", "published_by", "withdrawn_by").order_by("-id")


def count_deliveries(row: Announcement) -> DeliveryProgress:
    """Return how far the mails are, with one query."""
    late = Q(since__gt=row.published) if row.published else Q(pk=None)
    counted = row.recipients.aggregate(
        reached=Count("pk"),
        late=Count("pk", filter=late & Q(delivery=Delivery.PAGE)),
        mails=Count("pk", filter=Q(delivery=Delivery.WAITING) | Q(message__isnull=False)),
        seen=Count("seen"),
        **{state: Count("pk", filter=Q(message__state=state)) for state in ("sent", "failed", "discarded")},
        **{each.value: Count("pk", filter=Q(delivery=each)) for each in (Delivery.NO_ADDRESS, Delivery.UNWANTED)},
        **{each.value: Count("pk", filter=Q(delivery=each)) for each in (Delivery.LEFT, Delivery.STOPPED)},
    )
    return DeliveryProgress(**counted)
