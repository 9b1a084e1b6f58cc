"""Undoing changes of bans, and changing many bans at once.

What was lifted or changed is read from the history of the tables; all events of one request share its context.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.trail import EndedRow
from apps.bans.models import Ban, BanList, Direction
from apps.bans.services import change_ban
from apps.lib.database.id_arrays import build_ids_filter
from apps.lib.database.query_limits import lift_statement_limit
from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem


def set_ban_ends(*, bans: Collection[int], expires: datetime | None, by: User) -> int:
    """Set the end of the bans with these ids, all or none; return how many existed.

    Raises Problem if the end has passed or is too far away.
    """
    check_not_too_far_ahead(expires, "until")
    if expires is not None and expires <= timezone.now():
        raise Problem(_("This end has passed. Choose a later one, or “never”."), "until")
    with transaction.atomic():
        lift_statement_limit()
        changed = Ban.objects.filter(build_ids_filter(bans)).update(expires=expires, version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk)
    return changed


def set_ban_direction(*, bans: Collection[int], direction: str, by: User) -> int:
    """Set the direction of the bans with these ids, all or none; return how many existed."""
    with transaction.atomic():
        lift_statement_limit()
        changed = Ban.objects.filter(build_ids_filter(bans)).update(direction=Direction(direction), version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk)
    return changed


def list_lifted_bans(list: BanList, request: UUID) -> Any:
    """Return the bans of the list that a request lifted, as they were, without those whose end has passed since."""
    events = apps.get_model("bans", "BanEvent")._default_manager
    gone = events.filter(pgh_context_id=request, pgh_label="delete", list_id=list.pk)
    return gone.filter(Q(expires=None) | Q(expires__gt=Now()))


def map_restore_urls(ended: Sequence[EndedRow]) -> Mapping[int, str]:
    """Return the URLs whose POST restores what each request lifted, by the id of the ban.

    Missing are bans of lists that a feed fills, bans that exist again, and bans whose end has passed.
    """
    ours = set(BanList.objects.filter(pk__in={each.row.list_id for each in ended}, feed=None).values_list("pk", flat=True))
    there = set(Ban.objects.filter(prefix__in={each.row.prefix for each in ended}).values_list("list_id", "prefix"))
    lifted = [(each.row, each.request) for each in ended if each.request and each.row.list_id in ours]
    return {
        row.pk: reverse("bans:restore", args=[row.list_id, request])
        for row, request in lifted
        if (row.list_id, row.prefix) not in there and (row.expires is None or row.expires > timezone.now())
    }


def restore_lifted_bans(*, list: BanList, request: UUID, by: User) -> int:
    """Restore the bans that a request lifted, with comments, ends and authors; return their number.

    A ban that exists again stays as it is.
    """
    gone = [
        Ban(
            list=list,
            prefix=each.prefix,
            comment=each.comment,
            author_id=each.author_id,
            expires=each.expires,
            direction=each.direction,
        )
        for each in list_lifted_bans(list, request)
    ]
    with transaction.atomic():
        lift_statement_limit()
        before = Ban.objects.filter(list=list).count()
        Ban.objects.bulk_create(gone, ignore_conflicts=True)
        enqueue_task("workers.reconcile", by.pk)
        return Ban.objects.filter(list=list).count() - before


def revert_ban(*, ban: Ban, version: int, by: User) -> Ban:
    """Undo the change that made the ban this version, the last one.

    Raises Conflict if it was changed again since, Problem if there was no change, or if the former end has passed.
    """
    if ban.version != version:
        raise Conflict(_("This ban was changed again since, so nothing was undone. Look at it as it is now."))
    events: Any = ban.events  # type: ignore[attr-defined]  # made by the tracker
    before = events.order_by("-pgh_id")[1:2].first()
    if before is None:
        raise Problem(_("There is nothing to undo."))
    given = {"comment": before.comment, "expires": before.expires, "direction": before.direction}
    return change_ban(ban=ban, version=version, by=by, **given)
