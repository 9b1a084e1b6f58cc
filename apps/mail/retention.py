"""Declares how this app's tables are bounded. The content of mails is erased; when and to whom they were sent stays."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.mail import retention_sweep
from apps.operations.registry import TableBound, register_bounded, register_pruned


def prune_words(now: datetime, at_most: int) -> int:
    """Erase the content of mails that ended long ago."""
    return retention_sweep.erase_old_mail_content(now - timedelta(days=settings.KEEP_MAIL_DAYS), at_most)


register_pruned("mail.Message", kept="NETZWART_KEEP_MAIL_DAYS", prune=prune_words)
register_bounded(TableBound.PEOPLE, "mail.SwitchedOff")
register_bounded(TableBound.CODE, "mail.ServerAway")
