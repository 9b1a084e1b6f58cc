"""Import of a feed into a list: all or nothing, in one transaction, streamed into a temporary table and merged by set operations.

A ban that stays keeps its row, comment, end and author, and so its history. An expired ban that the feed names again gets the new end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pghistory
from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.feed_parser import MOST_BAD, BadLine, Feed, FeedReader, tidy_comment
from apps.bans.models import BanList, Direction
from apps.bans.own_networks import list_own_networks
from apps.bans.prefixes import BanFault
from apps.bans.services import validate_comment_and_end
from apps.lib.database.query_limits import lift_statement_limit
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Result of an import, or of a dry run. `imported` is False if bad lines prevented it; then nothing changed.

    bad: the first bad lines; bad_count: their number. renewed: expired bans that got a new end. below: entries below the minimum
    count. redirected: bans that got another direction. allowed: entries without effect, because the allow list overrules them.
    """

    imported: bool
    bad: tuple[BadLine, ...] = ()
    added: int = 0
    removed: int = 0
    renewed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    below: int = 0
    redirected: int = 0
    allowed: int = 0
    bad_count: int = 0


TABLES = """
    DROP TABLE IF EXISTS incoming_lines, incoming_bans;
    CREATE TEMPORARY TABLE incoming_lines (line integer, prefix cidr, comment text, direction text) ON COMMIT DROP
"""
COPY = "COPY incoming_lines (line, prefix, comment, direction) FROM STDIN"
ONCE = """
    CREATE TEMPORARY TABLE incoming_bans ON COMMIT DROP AS
    SELECT DISTINCT ON (prefix) line, prefix, comment, coalesce(nullif(direction, ''), %(direction)s) AS direction
    FROM incoming_lines ORDER BY prefix, line
"""
INDEX = "DROP TABLE incoming_lines; ALTER TABLE incoming_bans ADD PRIMARY KEY (prefix); ANALYZE incoming_bans"
OWN = "unnest(%(networks)s::cidr[], %(names)s::text[]) AS own (network, name)"
OURS = f"""
    SELECT i.line, i.prefix::text, min(own.name) FROM incoming_bans i JOIN {OWN} ON i.prefix && own.network
    GROUP BY i.line, i.prefix ORDER BY i.line, i.prefix LIMIT {MOST_BAD}
"""  # noqa: S608 - constants
WITHOUT = f"DELETE FROM incoming_bans i WHERE EXISTS (SELECT FROM {OWN} WHERE i.prefix && own.network)"  # noqa: S608 - constants
REMOVE = """
    DELETE FROM bans_ban b WHERE b.list_id = %(list)s AND NOT EXISTS (SELECT FROM incoming_bans i WHERE i.prefix = b.prefix)
"""
RENEW = """
    UPDATE bans_ban b SET expires = %(expires)s, version = version + 1
    FROM incoming_bans i WHERE b.list_id = %(list)s AND b.prefix = i.prefix AND b.expires <= now()
"""
REDIRECT = """
    UPDATE bans_ban b SET direction = i.direction, version = version + 1
    FROM incoming_bans i WHERE b.list_id = %(list)s AND b.prefix = i.prefix AND i.direction NOT IN ('', b.direction)
"""
ALLOWED = """
    SELECT count(*) FROM incoming_bans i WHERE EXISTS (
        SELECT FROM bans_allowentry e WHERE e.prefix >>= i.prefix AND (e.expires IS NULL OR e.expires > now())
    )
"""
ADD = """
    INSERT INTO bans_ban (version, list_id, prefix, comment, author_id, created, expires, direction)
    SELECT 1, %(list)s, i.prefix, coalesce(nullif(i.comment, ''), %(comment)s), %(author)s, now(), %(expires)s,
        coalesce(nullif(i.direction, ''), %(direction)s)
    FROM incoming_bans i WHERE NOT EXISTS (SELECT FROM bans_ban b WHERE b.list_id = %(list)s AND b.prefix = i.prefix)
    ORDER BY i.prefix
"""


class StagedFeed:
    """A feed in a temporary table of the running transaction: each prefix once, without our own networks.

    found: prefixes that the feed names; entries: those that can be banned. bad, bad_count: the first bad lines, and their number;
    unreadable: the number of those that name no prefix.
    """

    def __init__(self, cursor: Any, feed: Feed | FeedReader, direction: str) -> None:
        self.cursor = cursor
        named = _copy(cursor, feed)
        cursor.execute(ONCE, {"direction": direction})
        self.found = int(cursor.rowcount)
        cursor.execute(INDEX)
        ours, number = _drop_own_prefixes(cursor)
        self.entries = self.found - number
        self.bad = tuple(sorted((*feed.bad, *ours), key=lambda line: line.line))[:MOST_BAD]
        self.unreadable, self.bad_count, self.below = feed.bad_count, feed.bad_count + number, feed.below
        self.duplicates = feed.duplicates + named - self.found


@contextmanager
def stage_feed(*, list: BanList, feed: Feed | FeedReader, by: User | None, direction: str = "") -> Iterator[StagedFeed]:
    """Open a transaction with the feed in a table; other imports into the list wait for its end.

    direction: for entries without one. Memory stays flat, whatever the feed's length.
    """
    with transaction.atomic(), pghistory.context(user=by and by.pk, cause=f"import into {list}"), connection.cursor() as cursor:
        lift_statement_limit()
        BanList.objects.select_for_update().get(pk=list.pk)  # two imports run one after the other
        yield StagedFeed(cursor, feed, direction)


def import_feed(
    *,
    list: BanList,
    feed: Feed | FeedReader,
    by: User | None,
    comment: str = "",
    expires: datetime | None = None,
    keep: bool = False,
    direction: str = Direction.BOTH,
    skip_invalid: bool = False,
    dry_run: bool = False,
) -> ImportOutcome:
    """Make the list what the feed says; with `keep`, only add.

    Raises Problem if the feed names no bans, the end has passed or the comment is too long, FeedTooBig if the feed is.

    comment: for entries without one. expires, direction: for new bans, if the feed does not say. skip_invalid: import although some
    lines are bad. dry_run: take everything back at the end.
    """
    validate_comment_and_end(comment, expires)
    with stage_feed(list=list, feed=feed, by=by) as rows:
        if rows.bad_count and not skip_invalid:
            return build_outcome(rows)
        facts = {"list": list.pk, "comment": tidy_comment(comment), "expires": expires, "author": by and by.pk, "direction": direction}
        done = merge_staged_feed(rows, facts, keep=keep)
        enqueue_task("workers.reconcile", by and by.pk)
        transaction.set_rollback(dry_run)
    return done


def build_outcome(rows: StagedFeed) -> ImportOutcome:
    """Return what is known before anything changes."""
    return ImportOutcome(False, rows.bad, duplicates=rows.duplicates, below=rows.below, bad_count=rows.bad_count)


def _copy(cursor: Any, feed: Feed | FeedReader) -> int:
    """Stream the entries into the database; return their number."""
    cursor.execute(TABLES)
    with cursor.copy(COPY) as copy:
        for entry in feed:
            copy.write_row((entry.line, str(entry.prefix), entry.comment, entry.direction))
    return int(cursor.rowcount)


def _drop_own_prefixes(cursor: Any) -> tuple[list[BadLine], int]:
    """Remove the prefixes that overlap our own networks; return the first such lines, and their number."""
    own = list_own_networks()
    given = {"networks": [str(network) for network, _name in own], "names": [name for _network, name in own]}
    cursor.execute(OURS, given)
    ours = [
        BadLine(line, prefix.removesuffix("/32").removesuffix("/128"), BanFault.OWN, culprit=name)
        for line, prefix, name in cursor.fetchall()
    ]
    return ours, _run(cursor, WITHOUT, given)


def merge_staged_feed(rows: StagedFeed, facts: dict[str, Any], *, keep: bool = False) -> ImportOutcome:
    """Merge the staged entries into the list. Raises Problem if there are none.

    Updates before inserts: history of updates is slow behind many inserts (`apps.lib.database.history`).
    """
    cursor, done = rows.cursor, build_outcome(rows)
    if not rows.found and not rows.bad_count:
        raise Problem(_("This feed contains no addresses. Nothing was changed."))
    if not rows.entries:
        raise Problem(_("No line of this feed is a valid ban. Nothing was changed."))
    removed = 0 if keep else _run(cursor, REMOVE, facts)
    renewed = _run(cursor, RENEW, facts)
    done = replace(done, redirected=_run(cursor, REDIRECT, facts), allowed=_count(cursor, ALLOWED))
    added = _run(cursor, ADD, facts)
    return replace(done, imported=True, added=added, removed=removed, renewed=renewed, unchanged=rows.entries - added - renewed)


def _run(cursor: Any, query: str, facts: dict[str, Any]) -> int:
    cursor.execute(query, facts)
    return int(cursor.rowcount)


def _count(cursor: Any, query: str) -> int:
    cursor.execute(query)
    return int(cursor.fetchone()[0])
