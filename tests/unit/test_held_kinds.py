"""Whatever can wait for a second person can be named, asked after, refused and restored: over all kinds that there are."""

import pytest

from apps.deployments import approval_kinds, approval_texts, restoration
from apps.deployments.askers import _WRITTEN
from apps.deployments.models import HeldBack
from apps.network.models import GatewayGroup
from firewall.blast import HARMLESS
from firewall.sets import FAMILIES, Kind

WAITING = sorted({family.kind for family in FAMILIES} - HARMLESS | {Kind.BLOCKS})
GROUP = GatewayGroup(name="Lindenhof")


@pytest.mark.parametrize("kind", WAITING)
def test_each_kind_of_element_has_writers_and_a_way_back(kind: Kind) -> None:
    assert _WRITTEN[kind] and kind in restoration._RESTORE


@pytest.mark.parametrize("kind", [*WAITING, *approval_kinds.SPECIAL])
def test_each_kind_has_its_words(kind: str) -> None:
    held = HeldBack(group=GROUP, kind=kind, removed=12, of=40, earlier=2, packed=b"")
    if kind != approval_kinds.ROLLBACK:
        assert approval_texts.title(held)
    words = [approval_texts.why(held), approval_texts.verb(held), approval_texts.kind_of(held), approval_texts.undo(held)]
    assert all(words)
