"""Removes old rows of the tables that are registered for it, in bounded steps, and records how it went."""

from datetime import datetime
from time import monotonic
from typing import Final

import structlog
from django.utils import timezone

from apps.operations import jobs
from apps.operations.registry import Pruner, list_retentions

STEP: Final = 2_000  # most rows that one step removes
SECONDS: Final = 20.0  # after which a pruner begins no further step in this run
log = structlog.get_logger()


def prune_all(now: datetime | None = None) -> bool:
    """Run every pruner in bounded steps. If one fails, the others still run. Returns True if some table has more to remove."""
    at = now or timezone.now()
    more = False
    for each in list_retentions():
        if each.prune:
            with jobs.record_outcome(each.job):
                more = _prune(each.label, each.prune, at) or more
    return more


def _prune(label: str, prune: Pruner, at: datetime) -> bool:
    """Run steps until nothing is left or the time is up. Returns True if something may be left."""
    end, removed, more = monotonic() + SECONDS, 0, True
    while more:
        last = prune(at, STEP)
        removed, more = removed + last, last >= STEP
        if monotonic() > end:
            break
    if removed:
        log.info("old rows removed", table=label, rows=removed)
    return more
