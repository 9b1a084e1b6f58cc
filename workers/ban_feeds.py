"""Tasks that keep ban lists up to date with their feeds. The work is in `apps.bans.feed_refresh`."""

from celery import shared_task

from apps.bans import feed_refresh

EXPIRES = 60.0  # seconds, after which the schedule has queued it again


@shared_task(name="workers.refresh_feeds")
def refresh_feeds(feed: int | None = None, by: int | None = None) -> None:
    """Queue a task for each feed that is due, or for the given one, in the queue for feeds."""
    for each in feed_refresh.list_due_feeds() if feed is None else [feed]:
        refresh_feed.apply_async((each, by), expires=EXPIRES)


@shared_task(name="workers.refresh_feed")
def refresh_feed(feed: int, by: int | None = None) -> None:
    """Refresh one feed if it is due. by: the account that requested it, named in the history."""
    feed_refresh.refresh_feed(feed, by=by, only_if_due=True)
