"""manage.py import_bans: imports a feed into a ban list."""

import sys
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import feed_import, feed_parser, services
from apps.bans.models import BanList, Direction
from apps.bans.refusal_texts import explain_line
from apps.lib.command_arguments import parse_days
from apps.lib.errors import Problem


class Command(BaseCommand):
    help = (
        "Import a feed into a ban list: bans are added and, without --keep, those that the feed no longer names are lifted. All or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the feed, one address, prefix or range a-b per line; - reads standard input")
        parser.add_argument("--list", required=True, metavar="NAME", help="the ban list; created if it does not exist")
        parser.add_argument("--skip-invalid", action="store_true", help="import even if some lines are not valid bans")
        parser.add_argument("--minimum-count", type=int, default=0, metavar="N", help="leave out lines whose count is below N")
        parser.add_argument("--keep", action="store_true", help="only add: keep bans that the feed does not name")
        parser.add_argument("--comment", default="", help="comment for bans that have none in the feed")
        parser.add_argument(
            "--direction", choices=Direction.values, default="both", help="of bans that have none in the feed (default: %(default)s)"
        )
        parser.add_argument("--expires-in", type=parse_days, metavar="DAYS", help="new bans expire after this number of days")
        parser.add_argument("--author", metavar="USERNAME", help="the account that the history names (default: none)")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            feed = feed_parser.FeedReader(_read_content(options["file"]), minimum_count=options["minimum_count"])
            with transaction.atomic():
                outcome = self._import_feed(feed, options)
                transaction.set_rollback(options["dry_run"] or not outcome.imported)  # this undoes a new list as well
        except feed_parser.FeedTooBig as error:
            raise CommandError(f"{options['file']}: {error}. Split the feed, or import less of it.") from error
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        self._print_outcome(outcome, options)
        if not outcome.imported:
            raise SystemExit(1)

    def _import_feed(self, feed: feed_parser.FeedReader, options: dict[str, Any]) -> feed_import.ImportOutcome:
        author, days = _get_author(options["author"]), options["expires_in"]
        return feed_import.import_feed(
            list=BanList.objects.filter(name=options["list"]).first() or services.create_list(name=options["list"], by=author),
            feed=feed,
            by=author,
            comment=options["comment"],
            expires=timezone.now() + timedelta(days=days) if days is not None else None,
            keep=options["keep"],
            skip_invalid=options["skip_invalid"],
            direction=options["direction"],
        )

    def _print_outcome(self, outcome: feed_import.ImportOutcome, options: dict[str, Any]) -> None:
        for line in outcome.bad:
            self.stderr.write(explain_line(line))
        if not outcome.imported:
            self.stderr.write(f"Nothing was imported: {outcome.bad_count:,} invalid lines. Correct them, or skip them with --skip-invalid.")
            return
        counts = {"added": outcome.added, "lifted": outcome.removed, "renewed": outcome.renewed, "unchanged": outcome.unchanged}
        counts |= {"with a changed direction": outcome.redirected} if outcome.redirected else {}
        seen = {
            "overruled by the allow list": outcome.allowed,
            "named twice": outcome.duplicates,
            "below the minimum": outcome.below,
            "invalid lines skipped": outcome.bad_count,
        }
        words = [f"{number:,} {word}" for word, number in counts.items()] + [
            f"{number:,} {word}" for word, number in seen.items() if number
        ]
        self.stdout.write(f"{options['list']}: {', '.join(words)}." + (" (dry run: nothing was changed)" if options["dry_run"] else ""))


def _read_content(name: str) -> bytes:
    """Read at most one octet more than the parser accepts."""
    most = feed_parser.FeedLimits().octets + 1
    try:
        if name == "-":
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.") from error


def _get_author(username: str | None) -> User | None:
    try:
        return User.objects.get(username=username) if username else None
    except User.DoesNotExist:
        raise CommandError(f"Unknown user “{username}”.") from None
