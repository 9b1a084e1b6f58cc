"""Write services for the allow list: prefixes that no ban affects, on whatever list and however wide it is."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.feed_parser import tidy_comment
from apps.bans.models import AllowEntry
from apps.bans.services import validate_comment_and_end, validate_prefix
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Prefix


def allow_prefix(*, prefix: Prefix | str, comment: str = "", expires: datetime | None = None, author: User | None) -> AllowEntry:
    """Allow a prefix from now on. Raises Problem if it is not a prefix, or allowed already."""
    wanted = validate_prefix(prefix, ours=True)
    validate_comment_and_end(comment, expires)
    try:
        with transaction.atomic():
            made = AllowEntry.objects.create(prefix=wanted, comment=tidy_comment(comment), expires=expires, author=author)
            _nudge(author)
    except IntegrityError as error:
        there = AllowEntry.objects.filter(prefix=wanted).first()
        if there is None:
            raise
        text = _("%(prefix)s is already on the allow list (%(comment)s).")
        raise Problem(text % {"prefix": there.prefix_text, "comment": there.comment or _("no comment")}, "prefix", culprit=there) from error
    made.refresh_from_db()
    return made


def change_entry(*, entry: AllowEntry, version: int, comment: str, expires: datetime | None, by: User | None) -> AllowEntry:
    """Change the comment and the end. Raises Conflict if the entry changed since `version`."""
    validate_comment_and_end(comment, expires)
    with transaction.atomic():
        current = AllowEntry.objects.filter(pk=entry.pk, version=version)
        if not current.update(comment=tidy_comment(comment), expires=expires, version=F("version") + 1):
            raise Conflict(
                _("This entry was changed or removed by someone else while you were editing. Look at it as it is now, then save again.")
            )
        _nudge(by)
    entry.refresh_from_db()
    return entry


def remove_entry(*, entry: AllowEntry, by: User | None) -> None:
    """Remove an entry: bans affect its prefix again from now on; its history stays. Removing it twice is harmless."""
    with transaction.atomic():
        AllowEntry.objects.filter(pk=entry.pk).delete()
        _nudge(by)


def _nudge(by: User | None) -> None:
    enqueue_task("workers.reconcile", by.pk if by else None)
