"""Declares how this app's tables are bounded: the octets of taken mails are erased; quarantined mails wait for people."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.inbound_mail import retention_sweep
from apps.operations.registry import TableBound, register_bounded, register_pruned


def prune_octets(now: datetime, at_most: int) -> int:
    """Erase the octets of mails that were taken long ago."""
    return retention_sweep.erase_old_octets(now - timedelta(days=settings.KEEP_MAIL_DAYS), at_most)


register_pruned("inbound.Arrival", kept="NETZWART_KEEP_MAIL_DAYS", prune=prune_octets)
register_bounded(TableBound.CODE, "inbound.Mailbox")
