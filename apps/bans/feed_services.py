"""Write services for a list's feed. `apps.bans.feed_refresh` fetches and imports it."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.feed_fetcher import is_url
from apps.bans.models import BanFeed, BanList
from apps.bans.refusal_texts import explain_feed_fault
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web.guarded_http import NoAnswer, parse_url


def add_feed(*, list: BanList, source: str, by: User, **given: Any) -> BanFeed:
    """Fill the list from this source, from now on. Raises Problem if the source is not valid, or the list has a feed."""
    source = _validate_source(source)
    try:
        with transaction.atomic():
            made = BanFeed.objects.create(list=list, source=source, phase=BanFeed.Phase.WAITING, **given)
            enqueue_task("workers.refresh_feeds", made.pk, by.pk)
    except IntegrityError as error:
        if "list_id" not in str(error):
            raise Problem(_("The database refuses these values: %(error)s") % {"error": str(error).splitlines()[0]}) from error
        raise Problem(_("“%(list)s” has a feed already.") % {"list": list}, "source") from error
    made.refresh_from_db()
    return made


def change_feed(*, feed: BanFeed, version: int, source: str, by: User, **given: Any) -> BanFeed:
    """Change the feed, and refresh it at once. Raises Conflict if it changed since `version`, Problem for an invalid source.

    A refresh that runs loses its claim: what it brings is of the former source.
    """
    afresh = {"etag": "", "last_modified": "", "phase": BanFeed.Phase.IDLE, "claim": None, "claimed_until": None}
    with transaction.atomic():
        mine = BanFeed.objects.filter(pk=feed.pk, version=version)
        if not mine.update(source=_validate_source(source), due=Now(), version=F("version") + 1, **afresh, **given):
            raise Conflict(_("This feed was changed by someone else while you were editing. Look at it as it is now, then save again."))
        enqueue_task("workers.refresh_feeds", feed.pk, by.pk)
    feed.refresh_from_db()
    return feed


def remove_feed(*, feed: BanFeed) -> None:
    """Remove the feed: the list keeps its bans, and is not refreshed any more."""
    BanFeed.objects.filter(pk=feed.pk).delete()


def request_refresh(*, feed: BanFeed, by: User) -> None:
    """Start a refresh now; if no worker receives the task, the next scheduled run refreshes it within a minute."""
    with transaction.atomic():
        BanFeed.objects.filter(pk=feed.pk, phase=BanFeed.Phase.IDLE).update(phase=BanFeed.Phase.WAITING, octets=0)
        BanFeed.objects.filter(pk=feed.pk).update(due=Now())
        enqueue_task("workers.refresh_feeds", feed.pk, by.pk)


def _validate_source(source: str) -> str:
    source = source.strip()
    if not source:
        raise Problem(_("Enter where the bans come from."), "source")
    try:
        if is_url(source):
            parse_url(source)
    except NoAnswer as why:
        raise Problem(explain_feed_fault(why.fault.value, why.what), "source") from why
    return source
