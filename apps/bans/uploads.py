"""Uploaded files between preview and import: the database keeps them for an hour, so any process can answer the next request."""

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans import feed_parser
from apps.bans.feed_import import ImportOutcome, import_feed
from apps.bans.models import BanList, Upload
from apps.bans.services import validate_comment_and_end
from apps.lib.errors import Problem

KEPT = timedelta(hours=1)


def save_upload(*, list: BanList, name: str, content: bytes, options: dict[str, Any], by: User) -> Upload:
    """Store a file with its options: keep, minimum_count, comment, expires, direction. Removes uploads that are older than KEPT.

    Raises Problem if the comment is too long, or the end has passed or is too far away.
    """
    validate_comment_and_end(options.get("comment", ""), options.get("expires"))
    Upload.objects.filter(created__lt=Now() - KEPT).delete()
    return Upload.objects.create(list=list, name=name[:200], content=content, by=by, **options)


def import_upload(upload: Upload, *, by: User, skip_invalid: bool, dry_run: bool) -> ImportOutcome:
    """Import the file into its list, or as a dry run.

    Raises Problem if the file is too long or names no bans, or if the end has passed meanwhile. An imported file is removed.
    """
    try:
        outcome = import_feed(
            list=upload.list,
            feed=feed_parser.FeedReader(bytes(upload.content), minimum_count=upload.minimum_count),
            by=by,
            comment=upload.comment,
            expires=upload.expires,
            direction=upload.direction,
            keep=upload.keep,
            skip_invalid=skip_invalid,
            dry_run=dry_run,
        )
    except feed_parser.FeedTooBig as error:
        raise Problem(_("The file is too long (%(why)s). Split it, or leave some of it out.") % {"why": error}, "file") from error
    if outcome.imported and not dry_run:
        upload.delete()
    return outcome
