"""Going live: the decision, made once per group, that its gateways get what the database asks for.

Until then nothing is deployed, so that people can enter a network, read the plan and correct it. A live group stays live; a hold
keeps its gateways at a revision.
"""

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup


def go_live(*, group: GatewayGroup, by: User | None = None) -> GatewayGroup:
    """Deploy to the group's gateways from now on. by: None for a command.

    Raises Problem if the group has no gateway, Conflict if it is live already.
    """
    if not group.gateways.exists():
        raise Problem(_("%(group)s has no gateway yet. Add one first.") % {"group": group}, culprit=group)
    with transaction.atomic():
        if GatewayGroup.objects.filter(pk=group.pk, live_since=None).update(live_since=Now(), version=F("version") + 1) != 1:
            raise Conflict(_("%(group)s is live already.") % {"group": group})
        enqueue_task("workers.reconcile", by.pk if by else None, True)
    group.refresh_from_db()
    return group


def refuse_while_none_is_live() -> None:
    """Raise Problem if there are groups, but none is live: then a deploy changes nothing."""
    first = GatewayGroup.objects.order_by("name").first()
    if first and not GatewayGroup.objects.exclude(live_since=None).exists():
        text = _("%(group)s is not live yet, so nothing is deployed. Look at the plan, then go live.")
        raise Problem(text % {"group": first}, culprit=first)
