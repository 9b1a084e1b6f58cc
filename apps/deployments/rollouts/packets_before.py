"""What packets did at a gateway before a change: evidence of its step, stored before the change is sent there.

Whoever drives the rollout after that, this worker or the one that takes over, judges by it which packets the change has stopped.
"""

from typing import Any

from apps.deployments.models import RolloutStep
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.rollout_store import Lease

BEFORE = {4: "IPv4 before", 6: "IPv6 before"}  # by family: what such a piece of evidence is called

type EvidencePieces = list[dict[str, Any]]  # as in RolloutStep.evidence


def store_packets_before(lease: Lease, pieces: EvidencePieces) -> None:
    """Store what packets do before the change at the current gateway, in place of what an earlier attempt to send it found."""
    evidence = [*pieces, *list_trial_evidence(lease.step)]
    if evidence != lease.step.evidence:
        lease.step.evidence = evidence
        rollout_store.store_evidence(lease)


def find_packets_before_trial(lease: Lease) -> EvidencePieces:
    """Return what packets did before the earlier rollout whose change is still on trial at the current gateway."""
    earlier = RolloutStep.objects.filter(gateway=lease.step.gateway_id, rollout__lt=lease.rollout.pk, sent__isnull=False)
    newest = earlier.order_by("-rollout_id").first()
    return list(filter(_is_from_before, newest.evidence)) if newest else []


def did_packets_pass_before(lease: Lease, family: int) -> bool:
    """True if packets of this family passed the current gateway before the change."""
    return any(each["passed"] for each in lease.step.evidence if each["what"] == BEFORE[family])


def list_trial_evidence(step: RolloutStep) -> EvidencePieces:
    """Return the evidence since the change, in order."""
    return [each for each in step.evidence if not _is_from_before(each)]


def _is_from_before(piece: dict[str, Any]) -> bool:
    return piece["what"] in BEFORE.values()
