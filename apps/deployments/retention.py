"""How this app's tables are bounded. That and when a revision was confirmed is history; what it contained is kept for a time."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.deployments import contents
from apps.operations.registry import Bound, bounded, pruned


def prune_contents(now: datetime, at_most: int) -> int:
    """Remove what revisions contained that are older than anybody goes back."""
    return contents.forget_some(now - timedelta(days=settings.KEEP_REVISIONS_DAYS), at_most)


pruned("deployments.RevisionContent", kept="NETZWART_KEEP_REVISIONS_DAYS", prune=prune_contents)
pruned("deployments_touched", kept=_("1 hour"), by="workers.reconcile")
bounded(Bound.HISTORY, "deployments.Revision", "deployments.Rollout", "deployments.RolloutStep", "deployments.Hold", "deployments.HeldBack")
bounded(Bound.CODE, "deployments.GatewayState")
