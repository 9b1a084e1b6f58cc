"""Retention of this app's tables. A feed brings a million bans at most; hits of prefixes that are no longer banned are pruned.

So is the history of bans that no person has to do with: a feed with 20,000 new ones a day would add 15 million events a year.
"""

from datetime import datetime, timedelta

from django.db import connection
from django.utils.translation import gettext_lazy as _

from apps.bans.models import COUNTED, Upload
from apps.bans.uploads import KEPT
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_BAN_HISTORY_DAYS, KEEP_HITS_DAYS
from apps.preferences.selectors import describe_lazily, read_setting

OLD_HITS = """
    DELETE FROM bans_banhits WHERE id IN (
        SELECT id FROM bans_banhits h WHERE (last_hit IS NULL OR last_hit < %s)
            AND NOT EXISTS (SELECT FROM bans_ban b WHERE b.prefix = h.prefix)
        LIMIT %s
    )
"""

# Of bans without an author, what removed or renewed them and was not done by a person; with a removal goes the event that began the ban
# Who did it is looked up row by row: as NOT EXISTS the planner reads all contexts of all years for each step
OLD_EVENTS = """
    WITH old AS MATERIALIZED (
        SELECT pgh_id, pgh_obj_id, pgh_label FROM bans_banevent e
        WHERE author_id IS NULL AND pgh_label <> 'insert' AND pgh_created_at < %s
            AND (SELECT c.metadata ->> 'user' FROM pghistory_context c WHERE c.id = e.pgh_context_id) IS NULL
        ORDER BY pgh_created_at LIMIT %s
    ), removed AS (
        DELETE FROM bans_banevent WHERE pgh_id IN (
            SELECT pgh_id FROM old UNION ALL
            SELECT first.pgh_id FROM old JOIN bans_banevent first ON first.pgh_obj_id = old.pgh_obj_id AND first.pgh_label = 'insert'
            WHERE old.pgh_label = 'delete' AND first.author_id IS NULL
        ) RETURNING 1
    )
    SELECT (SELECT count(*) FROM old), (SELECT count(*) FROM removed)
"""


def prune_uploads(now: datetime, at_most: int) -> int:
    """Remove uploads that were not imported within KEPT."""
    return delete_oldest_batch(Upload.objects.filter(created__lt=now - KEPT), "created", at_most)


def prune_hits(now: datetime, at_most: int) -> int:
    """Remove the hits of prefixes that are on no list any more and were not hit for that long."""
    with connection.cursor() as cursor:
        cursor.execute(OLD_HITS, [now - timedelta(days=read_setting(KEEP_HITS_DAYS)), at_most])
        return int(cursor.rowcount)


def prune_feed_history(now: datetime, at_most: int) -> int:
    """Remove events of bans that a feed brought and took away, or renewed, that long ago."""
    most = max(at_most // 2, 1)  # each may take the event that began its ban with it
    with connection.cursor() as cursor:
        cursor.execute(OLD_EVENTS, [now - timedelta(days=read_setting(KEEP_BAN_HISTORY_DAYS)), most])
        found, removed = cursor.fetchone()
    return at_most if found == most else int(removed)


def sum_up_counts(_now: datetime, _at_most: int) -> int:
    """Replace the rows that count bans by one for each list. Returns how many fewer these are."""
    return COUNTED.sum_up()


register_pruned_table("bans.BanCount", kept=_("1 hour"), prune=sum_up_counts)
register_pruned_table("bans.Upload", kept=_("1 hour"), prune=prune_uploads)
register_pruned_table("bans.BanHits", kept=describe_lazily(KEEP_HITS_DAYS), prune=prune_hits)
register_pruned_table("bans_banevent", kept=describe_lazily(KEEP_BAN_HISTORY_DAYS), prune=prune_feed_history)
register_unpruned_tables(
    TableBoundKind.PEOPLE, "bans.BanList", "bans.Ban", "bans.AllowEntry", "bans.BanFeed", "bans.Notice", "bans.Reachable"
)
register_unpruned_tables(TableBoundKind.PEOPLE, "bans.Listener", "bans.ServerInterface")
register_unpruned_tables(TableBoundKind.HISTORY, "bans.Block")
