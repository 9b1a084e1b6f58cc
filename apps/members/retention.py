"""Registers how this app's tables are bounded: by what people enter; memberships are history and are kept; uploads are pruned."""

from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext_lazy as _

from apps.members.models import PeopleUpload
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables

UPLOADS_KEPT: Final = timedelta(hours=24)


def prune_uploads(now: datetime, at_most: int) -> int:
    """Delete uploaded tables of people, imported or not, that are older than UPLOADS_KEPT, unless a worker has them at this moment."""
    old = PeopleUpload.objects.filter(created__lt=now - UPLOADS_KEPT).exclude(state=PeopleUpload.State.RUNNING, claimed_until__gt=now)
    return delete_oldest_batch(old, "created", at_most)


register_pruned_table("members.PeopleUpload", kept=_("24 hours"), prune=prune_uploads)
register_pruned_table("members.RememberedColumns", kept=_("the 50 that were chosen last"), by="remember_meanings")
register_unpruned_tables(TableBoundKind.PEOPLE, "members.Tariff", "members.Site", "members.Room", "members.Member", "members.Device")
register_unpruned_tables(TableBoundKind.PEOPLE, "members.Departure", "members.MemberInvitation")
register_unpruned_tables(TableBoundKind.HISTORY, "members.Membership")
