"""Declares how this app's tables are bounded. The content of mails is erased; when and to whom they were sent stays."""

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from apps.mail import retention_sweep
from apps.mail.models import COUNTED
from apps.operations.registry import TableBoundKind, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_MAIL_DAYS
from apps.preferences.selectors import describe_lazily, read_setting


def prune_mail_content(now: datetime, at_most: int) -> int:
    """Erase the content of mails that ended long ago."""
    return retention_sweep.erase_old_mail_content(now - timedelta(days=read_setting(KEEP_MAIL_DAYS)), at_most)


def sum_up_counts(_now: datetime, _at_most: int) -> int:
    """Replace the rows that count mails by one for each state. Returns how many fewer these are."""
    return COUNTED.sum_up()


register_pruned_table("mail.Message", kept=describe_lazily(KEEP_MAIL_DAYS), prune=prune_mail_content, rows_stay=True)
register_pruned_table("mail.MessageCount", kept=_("1 hour"), prune=sum_up_counts)
register_unpruned_tables(TableBoundKind.PEOPLE, "mail.SwitchedOff")
register_unpruned_tables(TableBoundKind.CODE, "mail.ServerAway")
