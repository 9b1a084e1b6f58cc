"""Keep a list what its feed says: fetch when it is due or asked for, import, or hold it back; what is there stays when anything fails.

A refresh is claimed by a conditional UPDATE with a lease, so two workers never do it at once, and a lost one is done by another.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import feeds, fetching, importing
from apps.bans.fetching import Fetched
from apps.bans.models import Ban, BanFeed
from apps.bans.services import lift_many
from apps.lib.errors import Problem
from apps.lib.outbound import NoAnswer

log = structlog.get_logger()
LEASE = timedelta(minutes=5)
RETRY = timedelta(minutes=15)
SAY_EVERY = 0.3  # seconds between two notes of how far it is
LEAST = 10  # bans; fewer may always be lifted
UNCLAIMED = Q(claimed_until=None) | Q(claimed_until__lt=Now())


def due() -> list[int]:
    """Feeds that are on and whose time has come, and those that somebody asked for or whose worker was lost."""
    wanted = Q(enabled=True, due__lte=Now()) | ~Q(phase=BanFeed.Phase.IDLE)
    return list(BanFeed.objects.filter(UNCLAIMED, wanted).order_by("due").values_list("pk", flat=True))


def refresh(pk: int, *, by: int | None = None) -> bool:
    """Refresh one feed now. False when somebody else is at it, or it is gone. by: whoever asked for it."""
    mine = BanFeed.objects.filter(pk=pk)
    claimed = mine.filter(UNCLAIMED).update(claimed_until=Now() + LEASE, phase=BanFeed.Phase.FETCHING, octets=0)
    if not claimed:
        return False
    feed = mine.defer("held").select_related("list").get()
    try:
        changes = _refreshed(feed, User.objects.filter(pk=by).first() if by else None)
    except NoAnswer as why:
        changes = _failed(feed, why.fault.value, why.what)
    except feeds.TooBig as why:
        changes = _failed(feed, "too many", str(why))
    except Problem as problem:
        changes = _failed(feed, problem.fieldname if problem.fieldname == "bad" else "problem", str(problem))
    except Exception as error:
        mine.update(**_failed(feed, "broken", type(error).__name__), claimed_until=None, phase=BanFeed.Phase.IDLE)
        raise
    mine.update(**changes, claimed_until=None, phase=BanFeed.Phase.IDLE)
    log.info("feed refreshed", list=feed.list.name, error=changes.get("error"))
    return True


def _refreshed(feed: BanFeed, by: User | None) -> dict[str, Any]:
    fetched = _fetched(feed)
    now = timezone.now()
    well = {"checked": now, "error": None, "error_since": None, "due": now + timedelta(minutes=feed.interval)}
    if fetched.content is None:
        return well
    BanFeed.objects.filter(pk=feed.pk).update(phase=BanFeed.Phase.IMPORTING)
    known = {"etag": fetched.etag, "last_modified": fetched.last_modified}
    return well | known | _imported(feed, fetched.content, by, guarded=True, now=now)


def _fetched(feed: BanFeed) -> Fetched:
    known = Fetched(None, feed.etag, feed.last_modified)
    limits = fetching.Limits(feeds.Limits().octets, settings.FEED_SECONDS, settings.FEED_PRIVATE)
    if not fetching.is_url(feed.source):
        return fetching.read_file(Path(settings.FEED_DIRECTORY) if settings.FEED_DIRECTORY else None, feed.source, known, limits)
    return fetching.fetch(feed.source, known, limits, _saying(feed))


def _saying(feed: BanFeed) -> Callable[[int], None]:
    """Notes how many octets have come, now and then."""
    last = monotonic()

    def say(octets: int) -> None:
        nonlocal last
        if monotonic() - last > SAY_EVERY:
            BanFeed.objects.filter(pk=feed.pk).update(octets=octets)
            last = monotonic()

    return say


def _imported(feed: BanFeed, content: bytes, by: User | None, *, guarded: bool, now: datetime) -> dict[str, Any]:
    """Bring it into the list; what would lift too much is kept until a person says so."""
    parsed = feeds.parse(content, minimum_count=feed.minimum_count)
    there = Ban.objects.filter(list=feed.list_id).count()
    if not parsed.entries and there:
        return _held(content, there, there, now) if guarded and not parsed.bad else _emptied(feed, parsed, by, now)
    if len(parsed.bad) > len(parsed.entries):
        raise Problem(f"{len(parsed.bad)} / {len(parsed.bad) + len(parsed.entries)}", "bad")
    directed = replace(parsed, entries=tuple(replace(each, direction=each.direction or feed.direction) for each in parsed.entries))
    most = max(LEAST - 1, there * feed.shrink_limit // 100) if guarded else None
    outcome = importing.bring(list=feed.list, feed=directed, by=by, comment=feed.comment, skip_invalid=True, most_removed=most)
    if not outcome.imported:
        return _held(content, outcome.removed, there, now)
    numbers = {name: value for name, value in asdict(replace(outcome, bad=())).items() if isinstance(value, int)}
    return {"refreshed": now, "outcome": numbers | {"bad": len(outcome.bad)}} | NOTHING_HELD


def _emptied(feed: BanFeed, parsed: feeds.Feed, by: User | None, now: datetime) -> dict[str, Any]:
    """A person agreed that nothing is banned any more; but what nobody can read is no empty feed."""
    if parsed.bad:
        raise Problem(f"{len(parsed.bad)} / {len(parsed.bad)}", "bad")
    removed = lift_many(bans=list(Ban.objects.filter(list=feed.list_id).values_list("pk", flat=True)), by=by)
    return {"refreshed": now, "outcome": {"removed": removed}} | NOTHING_HELD


NOTHING_HELD: dict[str, Any] = {"held": None, "held_since": None, "held_removed": 0, "held_of": 0}


def _held(content: bytes, removed: int, of: int, now: datetime) -> dict[str, Any]:
    return {"held": content, "held_since": now, "held_removed": removed, "held_of": of}


def _failed(feed: BanFeed, fault: str, what: str) -> dict[str, Any]:
    now = timezone.now()
    again = now + min(RETRY, timedelta(minutes=feed.interval))
    return {"checked": now, "error": {"fault": fault, "what": what}, "error_since": Coalesce("error_since", now), "due": again}


def apply_held(*, feed: BanFeed, by: User) -> bool:
    """Import what was held back, as a person says. False when nothing is held any more. Raises Problem."""
    content = BanFeed.objects.filter(pk=feed.pk).values_list("held", flat=True).first()
    if content is None:
        return False
    BanFeed.objects.filter(pk=feed.pk).update(**_imported(feed, bytes(content), by, guarded=False, now=timezone.now()))
    return True


def drop_held(*, feed: BanFeed) -> None:
    """Forget what was held back; the list stays as it is until the feed says something else."""
    BanFeed.objects.filter(pk=feed.pk).update(**NOTHING_HELD)
