"""Retention of this app's tables. Revisions and their confirmations are kept as history; their contents are kept for a limited time."""

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from apps.deployments.approvals import removal_ledger
from apps.deployments.models import UnapprovedLoss
from apps.deployments.revision_pages import contents
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_REVISIONS_DAYS
from apps.preferences.selectors import describe_lazily, read_setting


def prune_contents(now: datetime, at_most: int) -> int:
    """Delete contents of revisions that are too old to go back to."""
    return contents.delete_old_contents(now - timedelta(days=read_setting(KEEP_REVISIONS_DAYS)), at_most)


def prune_losses(now: datetime, at_most: int) -> int:
    """Delete unapproved losses that are older than the window in which losses add up."""
    return delete_oldest_batch(UnapprovedLoss.objects.filter(at__lte=now - removal_ledger.WINDOW), "at", at_most)


register_pruned_table("deployments.UnapprovedLoss", kept=_("1 hour"), prune=prune_losses)
register_pruned_table("deployments.RevisionContent", kept=describe_lazily(KEEP_REVISIONS_DAYS), prune=prune_contents)
register_pruned_table("deployments_touched", kept=_("1 hour"), by="workers.reconcile")
register_unpruned_tables(
    TableBoundKind.HISTORY,
    "deployments.Revision",
    "deployments.Rollout",
    "deployments.RolloutStep",
    "deployments.Hold",
    "deployments.HeldBack",
    "deployments.DatabaseRestore",
)
register_unpruned_tables(TableBoundKind.CODE, "deployments.GatewayState", "deployments.RestoreDifference")
