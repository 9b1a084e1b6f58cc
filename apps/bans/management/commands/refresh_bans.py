"""manage.py refresh_bans: refreshes ban lists from their feeds, without a worker."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.bans import feed_refresh
from apps.bans.models import BanFeed
from apps.bans.refusal_texts import explain_feed_fault


class Command(BaseCommand):
    help = "Refresh the ban lists whose feeds are due, or one now. Fails if a feed could not be refreshed or is held back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--list", metavar="NAME", help="only this list, due or not")
        parser.add_argument("--all", action="store_true", help="all feeds that are switched on, due or not")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = self._list_feeds(options)
        if not chosen:
            self.stdout.write("No feed is due.")
        went_well = [self._refresh(pk) for pk in chosen]
        if not all(went_well):
            raise SystemExit(1)

    def _list_feeds(self, options: dict[str, Any]) -> list[int]:
        if name := options["list"]:
            found = BanFeed.objects.filter(list__name=name).values_list("pk", flat=True)
            if not found:
                raise CommandError(f"No ban list “{name}” with a feed.")
            return list(found)
        every = BanFeed.objects.filter(enabled=True).order_by("list__name").values_list("pk", flat=True)
        return list(every) if options["all"] else feed_refresh.list_due_feeds()

    def _refresh(self, pk: int) -> bool:
        taken = feed_refresh.refresh_feed(pk)
        feed = BanFeed.objects.defer("held").select_related("list").get(pk=pk)
        self.stdout.write(f"{feed.list}: {_describe_outcome(feed) if taken else 'another process is refreshing it now'}")
        return taken and feed.error is None and feed.held_since is None


def _describe_outcome(feed: BanFeed) -> str:
    if feed.error is not None:
        return f"not refreshed. {explain_feed_fault(**feed.error)}"
    if feed.held_since is not None:
        return f"held back: the feed would lift {feed.held_removed:,} of {feed.held_of:,} bans. Review it on the list's page."
    if feed.refreshed != feed.checked:
        return "the feed has not changed"
    said = (("added", "added"), ("removed", "lifted"), ("unchanged", "unchanged"))
    return ", ".join(f"{feed.outcome.get(name, 0):,} {word}" for name, word in said)
