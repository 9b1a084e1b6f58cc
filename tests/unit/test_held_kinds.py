"""Whatever can wait for a second person can be named, asked after, refused and restored: over all kinds that there are."""

import pytest

from apps.deployments.approvals import kinds, restoration, texts
from apps.deployments.approvals.requesters import _WRITTEN
from apps.deployments.models import HeldBack
from apps.network.models import GatewayGroup
from firewall.blast_radius import HARMLESS
from firewall.sets import FAMILIES, Kind

WAITING = sorted({family.kind for family in FAMILIES} - HARMLESS | {Kind.BLOCKS})
GROUP = GatewayGroup(name="Lindenhof")


@pytest.mark.parametrize("kind", WAITING)
def test_each_kind_of_element_has_writers_and_a_way_back(kind: Kind) -> None:
    assert _WRITTEN[kind] and kind in restoration._RESTORE


@pytest.mark.parametrize("kind", [*WAITING, *kinds.SPECIAL])
def test_each_kind_has_its_words(kind: str) -> None:
    held = HeldBack(group=GROUP, kind=kind, removed=12, of=40, earlier=2, packed=b"")
    if kind != kinds.ROLLBACK:
        assert texts.title(held)
    words = [texts.why(held), texts.verb(held), texts.kind_of(held), texts.undo(held)]
    assert all(words)
