"""Refresh of a list from its feed: fetch it when due or requested, then import it or hold it back. After a failure the list stays
as it is.

A refresh, or the import of what was held back, is claimed by a conditional UPDATE with a lease, which is renewed while the work lasts:
two processes never do it at once, and another worker takes over a lost refresh. A process that lost the lease changes nothing. A change
of the feed takes the claim away, too.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from django.db import DataError, IntegrityError, transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans import feed_fetcher, feed_import, feed_parser
from apps.bans.feed_fetcher import FetchedFeed
from apps.bans.models import Ban, BanFeed, Direction
from apps.bans.prefixes import BanFault
from apps.bans.services import lift_bans
from apps.lib.database.row_lease import LEASE, is_claim_valid, keep_lease
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.foreign_text import make_printable
from apps.lib.web.guarded_http import AllowedTargets, NoAnswer
from apps.network.selectors import list_own_prefixes

log = structlog.get_logger()
RETRY = timedelta(minutes=15)
SAY_EVERY = 0.3  # seconds between two reports of progress
LONGEST_REASON = 1000  # characters
UNREADABLE = ("bad", "broken table")  # faults of a feed's content that have a sentence of their own
LEAST = 10  # bans; a refresh may always lift fewer
UNCLAIMED = Q(claimed_until=None) | Q(claimed_until__lt=Now())
_INTERVAL = ExpressionWrapper(F("interval") * timedelta(minutes=1), DurationField())
_AHEAD = Q(due__gt=Now() + _INTERVAL)  # no refresh is put off for longer, so the clock was ahead then
WANTED = Q(Q(due__lte=Now()) | _AHEAD, enabled=True) | ~Q(phase=BanFeed.Phase.IDLE)


class FeedLeaseLost(Exception):  # noqa: N818 - a state, not an error
    """Raised when another worker has taken over the refresh; nothing of this one is kept."""


def list_due_feeds() -> list[int]:
    """Return the feeds that are on and due, and those that were requested or lost their worker."""
    return list(BanFeed.objects.filter(UNCLAIMED, WANTED).order_by("due").values_list("pk", flat=True))


def refresh_feed(pk: int, *, by: int | None = None, only_if_due: bool = False) -> bool:
    """Refresh one feed now. Return False if another worker refreshes it, if it does not exist, or with `only_if_due` if it is not due.

    by: id of the account that requested it.
    """
    mine, claim = BanFeed.objects.filter(pk=pk), uuid4()
    free = mine.filter(UNCLAIMED, WANTED) if only_if_due else mine.filter(UNCLAIMED)
    if not free.update(claimed_until=Now() + LEASE, claim=claim, phase=BanFeed.Phase.FETCHING, octets=0):
        return False
    feed = mine.defer("held").select_related("list").get()
    with keep_lease(BanFeed, pk, claim):
        try:
            changes, broken = _attempt_refresh(feed, User.objects.filter(pk=by).first() if by else None, claim), None
        except FeedLeaseLost:
            log.warning("feed taken over by another worker", list=feed.list.name)
            return False
        except Exception as error:
            changes, broken = _build_broken_columns(feed, error), error
    try:
        _end_claim(feed, claim, **changes, phase=BanFeed.Phase.IDLE)
    except (DataError, IntegrityError) as error:  # otherwise the feed would be fetched again and again, and nothing would say why
        changes, broken = _build_broken_columns(feed, error), error
        _end_claim(feed, claim, **changes, phase=BanFeed.Phase.IDLE)
    log.info("feed refreshed", list=feed.list.name, error=changes.get("error"))
    if broken:
        raise broken
    return True


@transaction.atomic
def _end_claim(feed: BanFeed, claim: UUID, **columns: Any) -> None:
    """Write these columns and end the claim, unless another process has it by now."""
    BanFeed.objects.filter(pk=feed.pk, claim=claim).update(**columns, claimed_until=None, claim=None)


def _attempt_refresh(feed: BanFeed, by: User | None, claim: UUID) -> dict[str, Any]:
    """Fetch and import; return the new values of the feed's row: refreshed, held back, or failed with the reason."""
    try:
        return _fetch_and_import(feed, by, claim)
    except NoAnswer as why:
        return _build_failure_columns(feed, why.fault.value, why.what)
    except feed_parser.FeedTooBig as why:
        return _build_failure_columns(feed, "too many", str(why))
    except Problem as problem:
        return _build_failure_columns(feed, problem.fieldname if problem.fieldname in UNREADABLE else "problem", str(problem))


def _fetch_and_import(feed: BanFeed, by: User | None, claim: UUID) -> dict[str, Any]:
    fetched = _fetch_feed(feed, claim)
    now = timezone.now()
    well = {"checked": now, "error": None, "error_since": None, "due": Now() + timedelta(minutes=feed.interval)}
    if fetched.content is None:
        return well
    BanFeed.objects.filter(pk=feed.pk, claim=claim).update(phase=BanFeed.Phase.IMPORTING)
    known = {"etag": fetched.etag, "last_modified": fetched.last_modified}
    return well | known | _import_content(feed, fetched.content, by, guarded=True, now=now, claim=claim)


def _fetch_feed(feed: BanFeed, claim: UUID) -> FetchedFeed:
    known = FetchedFeed(None, feed.etag, feed.last_modified)
    limits = feed_fetcher.FetchLimits(feed_parser.FeedLimits().octets, settings.FEED_SECONDS, build_allowed_targets())
    if not feed_fetcher.is_url(feed.source):
        return feed_fetcher.read_feed_file(Path(settings.FEED_DIRECTORY) if settings.FEED_DIRECTORY else None, feed.source, known, limits)
    return feed_fetcher.fetch_feed(feed.source, known, limits, _make_progress_reporter(feed, claim))


def build_allowed_targets() -> AllowedTargets:
    """Return the allowed targets: the public internet except our own networks; everything with NETZWART_FEED_PRIVATE."""
    return AllowedTargets(private=True) if settings.FEED_PRIVATE else AllowedTargets(never=list_own_prefixes())


def _make_progress_reporter(feed: BanFeed, claim: UUID) -> Callable[[int], None]:
    """Return a function that records the octets fetched so far, at most every SAY_EVERY seconds."""
    last = monotonic()

    def say(octets: int) -> None:
        nonlocal last
        if monotonic() - last > SAY_EVERY:
            BanFeed.objects.filter(pk=feed.pk, claim=claim).update(octets=octets)
            last = monotonic()

    return say


def _import_content(feed: BanFeed, content: bytes, by: User | None, *, guarded: bool, now: datetime, claim: UUID) -> dict[str, Any]:
    """Import the content; return the new values of the feed's row. guarded: hold back an import that would lift too many bans,
    until a person confirms it.

    claim: checked at the end. Raises FeedLeaseLost if another process has it then.
    """
    reader = feed_parser.FeedReader(content, minimum_count=feed.minimum_count)
    with feed_import.stage_feed(list=feed.list, feed=reader, by=by, direction=feed.direction) as rows:
        there = Ban.objects.filter(list=feed.list_id).count()
        if not rows.found and there and not rows.unreadable:
            return _build_pending_import_columns(content, there, there, now) if guarded else _empty_list(feed, by, now, claim)
        if rows.unreadable > rows.found:
            raise _build_unreadable_problem(rows)
        facts = {"list": feed.list_id, "comment": feed_parser.tidy_comment(feed.comment), "expires": None, "author": by and by.pk}
        outcome = feed_import.merge_staged_feed(rows, facts | {"direction": Direction.BOTH})
        if guarded and outcome.removed > max(LEAST - 1, there * feed.shrink_limit // 100):
            transaction.set_rollback(True)
            return _build_pending_import_columns(content, outcome.removed, there, now)
        _check_claim(feed, claim)
        enqueue_task("workers.reconcile", by and by.pk)
    numbers = {name: value for name, value in asdict(replace(outcome, bad=())).items() if isinstance(value, int) and name != "bad_count"}
    return {"refreshed": now, "outcome": numbers | {"bad": outcome.bad_count}} | NO_PENDING_IMPORT


def _build_unreadable_problem(rows: feed_import.StagedFeed) -> Problem:
    first = rows.bad[0]
    if first.fault == BanFault.BROKEN_TABLE:
        return Problem(str(first.line), "broken table")
    return Problem(f"{rows.unreadable} / {rows.unreadable + rows.found}", "bad")


def _empty_list(feed: BanFeed, by: User | None, now: datetime, claim: UUID) -> dict[str, Any]:
    """Lift all bans of the list: a person confirmed that the feed is empty."""
    removed = lift_bans(bans=list(Ban.objects.filter(list=feed.list_id).values_list("pk", flat=True)), by=by)
    _check_claim(feed, claim)
    return {"refreshed": now, "outcome": {"removed": removed}} | NO_PENDING_IMPORT


def _check_claim(feed: BanFeed, claim: UUID) -> None:
    """Raise FeedLeaseLost, which rolls the running import back, if another process has the claim."""
    if not is_claim_valid(BanFeed, feed.pk, claim):
        raise FeedLeaseLost


NO_PENDING_IMPORT: dict[str, Any] = {"held": None, "held_since": None, "held_removed": 0, "held_of": 0}


def _build_pending_import_columns(content: bytes, removed: int, of: int, now: datetime) -> dict[str, Any]:
    return {"held": content, "held_since": now, "held_removed": removed, "held_of": of}


def _build_broken_columns(feed: BanFeed, error: Exception) -> dict[str, Any]:
    """Return the columns after an error of ours. They name its type only, so that the database can hold them whatever it was."""
    return _build_failure_columns(feed, "broken", type(error).__name__)


def _build_failure_columns(feed: BanFeed, fault: str, what: str) -> dict[str, Any]:
    now = timezone.now()
    again = Now() + min(RETRY, timedelta(minutes=feed.interval))
    error = {"fault": fault, "what": make_printable(what, LONGEST_REASON)}
    return {"checked": now, "error": error, "error_since": Coalesce("error_since", now), "due": again}


def apply_pending_import(*, feed: BanFeed, held_since: datetime, by: User) -> None:
    """Import what has been held back since then, as a person confirmed who saw it.

    Raises Conflict if the feed is being refreshed, or if this is not held back any more. Raises Problem if it cannot be imported.
    """
    pending, claim = _filter_pending_import(feed, held_since), uuid4()
    content = pending.values_list("held", flat=True).first()
    if content is None or not pending.update(claimed_until=Now() + LEASE, claim=claim):
        raise _build_conflict()
    columns: dict[str, Any] = {}
    try:
        with keep_lease(BanFeed, feed.pk, claim):
            columns = _import_content(feed, bytes(content), by, guarded=False, now=timezone.now(), claim=claim)
    except FeedLeaseLost as lost:
        raise _build_conflict() from lost
    finally:
        _end_claim(feed, claim, **columns)


def discard_pending_import(*, feed: BanFeed, held_since: datetime) -> None:
    """Discard what has been held back since then; the list stays as it is until the feed changes.

    Raises Conflict if the feed is being refreshed, or if this is not held back any more.
    """
    if not _filter_pending_import(feed, held_since).update(**NO_PENDING_IMPORT):
        raise _build_conflict()


def _filter_pending_import(feed: BanFeed, held_since: datetime) -> QuerySet[BanFeed]:
    """Return the feed's row if nobody works on it and what has been held back since then is still there."""
    return BanFeed.objects.filter(UNCLAIMED, pk=feed.pk, held_since=held_since)


def _build_conflict() -> Conflict:
    return Conflict(_("This feed is being refreshed, or was refreshed since you looked at it. Nothing was changed; look at it again."))
