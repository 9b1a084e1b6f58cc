"""Services that ban or change many prefixes in a constant number of statements. services.py has the rules for a single ban.

All or none: any refusal raises, and nothing is written. To learn which ban is refused, callers use services.py for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from apps.accounts.models import User
from apps.bans import services
from apps.bans.feed_parser import tidy_comment
from apps.bans.models import Ban, BanList, Direction
from apps.bans.own_networks import list_own_networks
from apps.lib.fields import Prefix

CHANGE: Final = """
    UPDATE bans_ban b SET comment = w.comment, expires = w.expires, direction = w.direction, version = b.version + 1
    FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::timestamptz[], %s::text[]) AS w (id, version, comment, expires, direction)
    WHERE b.id = w.id AND b.version = w.version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BanDraft:
    """A ban to be made, with the arguments of `services.ban_prefix`."""

    list: BanList
    prefix: Prefix | str
    comment: str = ""
    expires: datetime | None = None
    direction: str = Direction.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class BanChange:
    """The wanted state of a ban, on top of the version that was read."""

    ban: Ban
    version: int
    comment: str
    expires: datetime | None
    direction: str


def ban_prefixes(*, wanted: Sequence[BanDraft], author: User | None) -> list[Ban]:
    """Ban all of these from now on, in their order. Raises Problem or IntegrityError, and then bans none."""
    own, rows = list_own_networks(), []
    for each in wanted:
        services.validate_comment_and_end(each.comment, each.expires)
        prefix = services.validate_prefix(each.prefix, own=own)
        given = {"comment": tidy_comment(each.comment), "expires": each.expires, "direction": services.parse_direction(each.direction)}
        rows.append(Ban(list=each.list, prefix=prefix, author=author, **given))
    with transaction.atomic():
        made = Ban.objects.bulk_create(rows)
        services.enqueue_deploy(author)
        return _reload([row.pk for row in made])


def change_bans(*, wanted: Sequence[BanChange], by: User | None) -> list[Ban]:
    """Change all of these, in their order. Raises Conflict if one was changed or lifted since its version, Problem like `change_ban`."""
    for each in wanted:
        services.validate_comment_and_end(each.comment, each.expires)
    columns = (
        [each.ban.pk for each in wanted],
        [each.version for each in wanted],
        [tidy_comment(each.comment) for each in wanted],
        [each.expires for each in wanted],
        [services.parse_direction(each.direction) for each in wanted],
    )
    with transaction.atomic(), connection.cursor() as cursor:
        _lock(wanted)
        cursor.execute(CHANGE, columns)
        if cursor.rowcount != len(wanted):
            raise services.build_conflict()
        services.enqueue_deploy(by)
        return _reload(columns[0])


def _lock(wanted: Sequence[BanChange]) -> None:
    """Lock the bans in order of their ids, so that two transactions that change some of the same do not deadlock."""
    list(Ban.objects.select_for_update(no_key=True).filter(pk__in=[each.ban.pk for each in wanted]).order_by("pk").values_list("pk"))


def _reload(ids: Sequence[int]) -> list[Ban]:
    """Return the bans in this order; read before the commit, after which others may lift them."""
    found = Ban.objects.in_bulk(ids)
    return [found[pk] for pk in ids]
