"""Declares how this app's tables are bounded: the octets of taken mails are erased; quarantined mails wait for people."""

from datetime import datetime, timedelta

from apps.inbound_mail import retention_sweep
from apps.operations.registry import TableBoundKind, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_MAIL_DAYS
from apps.preferences.selectors import describe_lazily, read_setting


def prune_octets(now: datetime, at_most: int) -> int:
    """Erase the octets of mails that were taken long ago."""
    return retention_sweep.erase_old_octets(now - timedelta(days=read_setting(KEEP_MAIL_DAYS)), at_most)


register_pruned_table("inbound.Arrival", kept=describe_lazily(KEEP_MAIL_DAYS), prune=prune_octets, rows_stay=True)
register_unpruned_tables(TableBoundKind.CODE, "inbound.Mailbox")
