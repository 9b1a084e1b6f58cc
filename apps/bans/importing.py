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
from apps.bans.models import BanList, Direction
from apps.bans.own import own_networks
from apps.bans.prefixes import Fault
from apps.lib.errors import Problem
from apps.lib.nudge import nudge
from apps.lib.query_limits import lift_statement_limit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did, or would have done. `imported` is False when bad lines forbade it; then nothing changed.

    redirected: bans that got another direction. allowed: entries that have no effect, because the allow list overrules them.
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


TABLE = """
    DROP TABLE IF EXISTS incoming_bans;
    CREATE TEMPORARY TABLE incoming_bans (line integer, prefix cidr PRIMARY KEY, comment text, direction text) ON COMMIT DROP
"""
COPY = "COPY incoming_bans (line, prefix, comment, direction) FROM STDIN"
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


def bring(
    *,
    list: BanList,
    feed: Feed,
    by: User | None,
    comment: str = "",
    expires: datetime | None = None,
    keep: bool = False,
    direction: str = Direction.BOTH,
    skip_invalid: bool = False,
    dry_run: bool = False,
    most_removed: int | None = None,
) -> Outcome:
    """Make the list what the feed says; with `keep`, only add. Raises Problem when the feed names nothing.

    comment: for entries without one. expires, direction: of what is new, where the feed does not say.
    skip_invalid: import although lines are bad. most_removed: what would lift more changes nothing, and says how many it would.
    """
    if not feed.entries and not feed.bad:
        raise Problem(_("There is no address in this feed. Nothing was changed."))
    done = Outcome(False, feed.bad, duplicates=feed.duplicates, below=feed.below)
    with transaction.atomic(), pghistory.context(user=by and by.pk, cause=f"import into {list}"), connection.cursor() as cursor:
        lift_statement_limit()
        BanList.objects.select_for_update().get(pk=list.pk)  # two imports, one after the other
        _copy(cursor, feed.entries)
        done = replace(done, bad=tuple(sorted((*feed.bad, *_set_ours_aside(cursor)), key=lambda line: line.line)))
        if done.bad and not skip_invalid:
            return done
        facts = {"list": list.pk, "comment": tidy(comment), "expires": expires, "author": by and by.pk, "direction": direction}
        done = _merge(cursor, facts, done, keep=keep)
        if most_removed is not None and done.removed > most_removed:
            transaction.set_rollback(True)
            return replace(done, imported=False)
        nudge("workers.reconcile", by and by.pk)
        transaction.set_rollback(dry_run)
    return done


def _copy(cursor: Any, entries: Sequence[Entry]) -> None:
    cursor.execute(TABLE)
    with cursor.copy(COPY) as copy:
        for entry in entries:
            copy.write_row((entry.line, str(entry.prefix), entry.comment, entry.direction))
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
    done = replace(done, redirected=_run(cursor, REDIRECT, facts), allowed=_count(cursor, ALLOWED))
    added = _run(cursor, ADD, facts)
    return replace(done, imported=True, added=added, removed=removed, renewed=renewed, unchanged=named - added - renewed)


def _run(cursor: Any, query: str, facts: dict[str, Any]) -> int:
    cursor.execute(query, facts)
    return int(cursor.rowcount)


def _count(cursor: Any, query: str) -> int:
    cursor.execute(query)
    return int(cursor.fetchone()[0])
