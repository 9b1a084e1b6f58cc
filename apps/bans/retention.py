"""Retention of this app's tables. A feed brings a million bans at most; hits of prefixes that are no longer banned are pruned."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils.translation import gettext_lazy as _

from apps.bans.models import Upload
from apps.bans.uploads import KEPT
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_HITS_DAYS
from apps.preferences.selectors import describe_lazily, read_setting

OLD_HITS = """
    DELETE FROM bans_banhits WHERE id IN (
        SELECT id FROM bans_banhits h WHERE (last_hit IS NULL OR last_hit < %s)
            AND NOT EXISTS (SELECT FROM bans_ban b WHERE b.prefix = h.prefix)
        LIMIT %s
    )
"""


def prune_uploads(now: datetime, at_most: int) -> int:
    """Remove uploads that were not imported within KEPT."""
    return delete_oldest_batch(Upload.objects.filter(created__lt=now - KEPT), "created", at_most)


def prune_hits(now: datetime, at_most: int) -> int:
    """Remove the hits of prefixes that are on no list any more and were not hit for that long."""
    with connection.cursor() as cursor:
        cursor.execute(OLD_HITS, [now - timedelta(days=read_setting(KEEP_HITS_DAYS)), at_most])
        return int(cursor.rowcount)


register_pruned_table("bans.Upload", kept=_("1 hour"), prune=prune_uploads)
register_pruned_table("bans.BanHits", kept=describe_lazily(KEEP_HITS_DAYS), prune=prune_hits)
register_unpruned_tables(
    TableBoundKind.PEOPLE, "bans.BanList", "bans.Ban", "bans.AllowEntry", "bans.BanFeed", "bans.Notice", "bans.Reachable"
)
register_unpruned_tables(TableBoundKind.PEOPLE, "bans.Listener", "bans.ServerInterface")
register_unpruned_tables(TableBoundKind.HISTORY, "bans.Block")
