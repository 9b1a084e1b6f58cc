"""Requests for evidence: by a person, and by the portal before it moves roles or goes back. A worker collects.

A request of the portal is a row in the transaction of what it precedes. It neither delays nor fails that.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.deployments.rollouts.going_back import ReturnKind
from apps.gateways.evidence.models import EvidenceArchive
from apps.lib.enqueue import enqueue_task
from apps.network.models import Gateway

TASK: Final = "workers.collect_evidence"
AGAIN: Final = timedelta(minutes=2)
"""Time in which the portal asks a gateway no second time by itself: what goes back again and again shows the same each time."""
log = structlog.get_logger()
Cause = EvidenceArchive.Cause


def request_evidence(*, gateway: Gateway, by: User) -> EvidenceArchive:
    """Let a worker collect evidence; return the request that is open already if there is one."""
    waits = EvidenceArchive.objects.filter(gateway=gateway, state__in=EvidenceArchive.OPEN).first()
    return waits or _create_request(gateway.pk, Cause.PERSON, by)


def request_evidence_before(cause: EvidenceArchive.Cause, gateways: Iterable[Gateway]) -> None:
    """Let a worker collect evidence of these gateways as they are now. Never raises: a fault is logged."""
    try:
        with transaction.atomic():
            for gateway in gateways:
                _request_unless_fresh(cause, gateway)
    except Exception as error:  # whatever is wrong with evidence, the step that it precedes must be taken
        log.exception("no evidence requested", cause=cause.value, error=str(error))


def request_evidence_before_return(kind: ReturnKind, gateways: Sequence[Gateway]) -> None:
    """Listen to apps.deployments.rollouts.going_back."""
    request_evidence_before(Cause.REVERT if kind is ReturnKind.REVERT else Cause.ROLLBACK, gateways)


def _request_unless_fresh(cause: EvidenceArchive.Cause, gateway: Gateway) -> None:
    fresh = EvidenceArchive.objects.filter(gateway=gateway, asked__gt=timezone.now() - AGAIN).exclude(state=EvidenceArchive.State.FAILED)
    if not fresh.exists():
        _create_request(gateway.pk, cause, None)


def _create_request(gateway: int, cause: EvidenceArchive.Cause, by: User | None) -> EvidenceArchive:
    made = EvidenceArchive.objects.create(gateway_id=gateway, cause=cause, by=by)
    enqueue_task(TASK, made.pk)
    log.info("evidence requested", gateway=gateway, cause=cause.value, by=by.username if by else "")
    return made
