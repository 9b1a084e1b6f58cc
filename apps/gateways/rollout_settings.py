"""Rollout settings of a gateway group: changed by one person at a time, within what the database accepts."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.selectors import find_last_change
from apps.deployments.approvals.limit_changes import request_limits
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.network.models import GatewayGroup

CONFIRM_WITHIN = range(5, 601)  # seconds
SHARE = range(101)  # percent


@transaction.atomic
def configure_group(
    *,
    group: GatewayGroup,
    version: int,
    goes_on: bool,
    heals_drift: bool,
    confirm_within: int,
    removal_share: int,
    removal_least: int,
    by: User,
) -> GatewayGroup:
    """Change the group's rollout settings. Looser limits wait for a second person.

    Raises Conflict if the group was changed since `version`, else Problem.
    """
    if confirm_within not in CONFIRM_WITHIN:
        raise Problem(_("A gateway can wait between 5 and 600 seconds for its confirmation."), "confirm_within")
    if removal_share not in SHARE:
        raise Problem(_("A share is between 0 and 100 percent."), "removal_share")
    if removal_least < 1:
        raise Problem(_("Enter at least 1; with 0, changes without removals would wait too."), "removal_least")
    changed = GatewayGroup.objects.filter(pk=group.pk, version=version).update(
        goes_on=goes_on,
        heals_drift=heals_drift,
        confirm_within=confirm_within,
        version=F("version") + 1,
    )
    if not changed:
        raise _build_conflict(group)
    request_limits(group, removal_share=removal_share, removal_least=removal_least, by=by)
    enqueue_task("workers.reconcile", by.pk)
    group.refresh_from_db()
    return group


def _build_conflict(group: GatewayGroup) -> Conflict:
    last = find_last_change(group)
    if last is None:
        return Conflict(
            _("These settings were changed by someone else while you were editing. Your input is kept below; compare and save again.")
        )
    who, at = last
    given = {"who": who, "time": formats.format_moment(at, timezone.now(), with_seconds=False)}
    words = _("%(who)s changed these settings at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    return Conflict(words % given)
