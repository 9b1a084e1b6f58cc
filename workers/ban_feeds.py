"""Keep ban lists what their feeds say. The work is in `apps.bans.feed_refresh`."""

from celery import shared_task

from apps.bans import feed_refresh

EXPIRES = 60.0  # seconds, after which the schedule has asked again


@shared_task(name="workers.refresh_feeds")
def refresh_feeds(feed: int | None = None, by: int | None = None) -> None:
    """Have the feeds refreshed whose time has come, or the one that somebody asks for, each by a task of its own in the other queue."""
    for each in feed_refresh.list_due_feeds() if feed is None else [feed]:
        refresh_feed.apply_async((each, by), expires=EXPIRES)


@shared_task(name="workers.refresh_feed")
def refresh_feed(feed: int, by: int | None = None) -> None:
    """Refresh one; whoever asked for it is named in the history."""
    feed_refresh.refresh_feed(feed, by=by, only_if_due=True)
