"""Ledger of service removed without approval within the last hour, so that single removals add up."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from django.db.models.functions import Now

from apps.deployments.approvals.part_codec import RulesetPart, pack_part, unpack_part
from apps.deployments.models import UnapprovedLoss
from apps.network.models import GatewayGroup
from firewall.blast_radius import ServiceRemoval, filter_still_lost
from firewall.ruleset import Elements

WINDOW: Final = timedelta(hours=1)


def list_recent_losses(group: GatewayGroup, wanted: Mapping[str, Elements]) -> list[RulesetPart]:
    """Return the removed parts, without what `wanted` serves again."""
    rows = UnapprovedLoss.objects.filter(group=group, at__gt=Now() - WINDOW).values_list("packed", flat=True)
    parts = [dict(filter_still_lost(unpack_part(packed), wanted)) for packed in rows]
    return [part for part in parts if part]


def record_losses(group: GatewayGroup, removals: Iterable[ServiceRemoval], known: Iterable[RulesetPart]) -> None:
    """Record removals that go out without approval, except elements of the `known` parts. Deletes entries older than the window."""
    noted = list(known)
    UnapprovedLoss.objects.filter(group=group, at__lte=Now() - WINDOW).delete()
    for removal in removals:
        if new := _subtract_parts(removal.elements, noted):
            UnapprovedLoss.objects.create(group=group, packed=pack_part(new))


def _subtract_parts(part: Mapping[str, Elements], known: Iterable[RulesetPart]) -> RulesetPart:
    parts = list(known)
    rest = {
        name: {key: element for key, element in elements.items() if not any(key in each.get(name, {}) for each in parts)}
        for name, elements in part.items()
    }
    return {name: elements for name, elements in rest.items() if elements}
