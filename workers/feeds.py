"""Keep ban lists what their feeds say. The work is in `apps.bans.refreshing`."""

from celery import shared_task

from apps.bans import refreshing


@shared_task(name="workers.refresh_feeds")
def refresh_feeds() -> None:
    """Look at the feeds whose time has come, each by a task of its own."""
    for feed in refreshing.due():
        refresh_feed.delay(feed)


@shared_task(name="workers.refresh_feed")
def refresh_feed(feed: int, by: int | None = None) -> None:
    """Refresh one; whoever asked for it is named in the history."""
    refreshing.refresh(feed, by=by)
