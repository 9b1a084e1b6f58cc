"""Flood mode: banned sources are dropped before connection tracking, on a group's uplinks."""

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict
from apps.network.models import GatewayGroup


def set_flood_mode(*, group: GatewayGroup, version: int, on: bool, by: User) -> GatewayGroup:
    """Switch flood mode on or off. Raises Conflict if the group was changed since `version`."""
    with transaction.atomic():
        if not GatewayGroup.objects.filter(pk=group.pk, version=version).update(flood_mode=on, version=F("version") + 1):
            raise Conflict(_("This group was changed by someone else meanwhile. Look at it as it is now, then switch again."))
        enqueue_task("workers.reconcile", by.pk)
    group.refresh_from_db()
    return group
