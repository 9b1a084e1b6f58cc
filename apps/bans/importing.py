"""Bring a parsed feed into a list: all of it or nothing, in one transaction of set operations.

A ban that stays keeps its row, comment, end and author, and so its history. One that had expired and is named again gets the new end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pghistory
from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.feeds import BadLine, Entry, Feed, tidy
from apps.bans.models import BanList
from apps.bans.own import own_networks
from apps.bans.prefixes import Fault
from apps.lib.errors import Problem
from apps.lib.nudge import nudge


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did, or would have done. `imported` is False when bad lines forbade it; then nothing changed."""

    imported: bool
    bad: tuple[BadLine, ...] = ()
    added: int = 0
    removed: int = 0
    renewed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    below: int = 0


TABLE = """
    DROP TABLE IF EXISTS incoming_bans;
    CREATE TEMPORARY TABLE incoming_bans (line integer, prefix cidr PRIMARY KEY, comment text) ON COMMIT DROP
"""
COPY = "COPY incoming_bans (line, prefix, comment) FROM STDIN"
ANALYZE = "ANALYZE incoming_bans"
OURS = """
    SELECT i.line, i.prefix::text, min(own.name) FROM incoming_bans i
    JOIN unnest(%(networks)s::cidr[], %(names)s::text[]) AS own (network, name) ON i.prefix && own.network
    GROUP BY i.line, i.prefix ORDER BY i.line, i.prefix
"""
WITHOUT = "DELETE FROM incoming_bans WHERE prefix = ANY(%(prefixes)s::cidr[])"
REMOVE = """
    DELETE FROM bans_ban b WHERE b.list_id = %(list)s AND NOT EXISTS (SELECT FROM incoming_bans i WHERE i.prefix = b.prefix)
"""
RENEW = """
    UPDATE bans_ban b SET expires = %(expires)s, version = version + 1
    FROM incoming_bans i WHERE b.list_id = %(list)s AND b.prefix = i.prefix AND b.expires <= now()
"""
ADD = """
    INSERT INTO bans_ban (version, list_id, prefix, comment, author_id, created, expires)
    SELECT 1, %(list)s, i.prefix, coalesce(nullif(i.comment, ''), %(comment)s), %(author)s, now(), %(expires)s
    FROM incoming_bans i WHERE NOT EXISTS (SELECT FROM bans_ban b WHERE b.list_id = %(list)s AND b.prefix = i.prefix)
    ORDER BY i.prefix
"""


def bring(
    *,
    list: BanList,
    feed: Feed,
    by: User | None,
    comment: str = "",
    expires: datetime | None = None,
    keep: bool = False,
    skip_invalid: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Make the list what the feed says; with `keep`, only add. Raises Problem when the feed names nothing.

    comment: for entries without one. expires: the end of what is new. skip_invalid: import although lines are bad.
    """
    if not feed.entries and not feed.bad:
        raise Problem(_("There is no address in this feed. Nothing was changed."))
    done = Outcome(False, feed.bad, duplicates=feed.duplicates, below=feed.below)
    with transaction.atomic(), pghistory.context(user=by and by.pk, cause=f"import into {list}"), connection.cursor() as cursor:
        BanList.objects.select_for_update().get(pk=list.pk)  # two imports, one after the other
        _copy(cursor, feed.entries)
        done = replace(done, bad=tuple(sorted((*feed.bad, *_set_ours_aside(cursor)), key=lambda line: line.line)))
        if done.bad and not skip_invalid:
            return done
        facts = {"list": list.pk, "comment": tidy(comment), "expires": expires, "author": by and by.pk}
        done = _merge(cursor, facts, done, keep=keep)
        nudge("workers.reconcile", by and by.pk)
        transaction.set_rollback(dry_run)
    return done


def _copy(cursor: Any, entries: Sequence[Entry]) -> None:
    cursor.execute(TABLE)
    with cursor.copy(COPY) as copy:
        for entry in entries:
            copy.write_row((entry.line, str(entry.prefix), entry.comment))
    cursor.execute(ANALYZE)


def _set_ours_aside(cursor: Any) -> list[BadLine]:
    """Take out of what came in whatever would ban ourselves."""
    own = own_networks()
    cursor.execute(OURS, {"networks": [str(network) for network, _name in own], "names": [name for _network, name in own]})
    ours = cursor.fetchall()
    cursor.execute(WITHOUT, {"prefixes": [prefix for _line, prefix, _name in ours]})
    return [BadLine(line, prefix.removesuffix("/32").removesuffix("/128"), Fault.OWN, culprit=name) for line, prefix, name in ours]


def _merge(cursor: Any, facts: dict[str, Any], done: Outcome, *, keep: bool) -> Outcome:
    """Updates before inserts: history of updates is slow behind many inserts (`apps.lib.history`)."""
    named = _count(cursor, "SELECT count(*) FROM incoming_bans")
    if not named:
        raise Problem(_("No line of this feed can be a ban. Nothing was changed."))
    removed = 0 if keep else _run(cursor, REMOVE, facts)
    renewed = _run(cursor, RENEW, facts)
    added = _run(cursor, ADD, facts)
    return replace(done, imported=True, added=added, removed=removed, renewed=renewed, unchanged=named - added - renewed)


def _run(cursor: Any, query: str, facts: dict[str, Any]) -> int:
    cursor.execute(query, facts)
    return int(cursor.rowcount)


def _count(cursor: Any, query: str) -> int:
    cursor.execute(query)
    return int(cursor.fetchone()[0])
