"""Every kind of change that can wait for an approval has requesters, a way back and its texts."""

import pytest

from apps.deployments.approvals import kinds, restoration, texts
from apps.deployments.approvals.requesters import _WRITTEN
from apps.deployments.models import HeldBack
from apps.network.models import GatewayGroup
from firewall.blast_radius import HARMLESS
from firewall.sets import FAMILIES, ObjectKind

WAITING = sorted({family.kind for family in FAMILIES} - HARMLESS | {ObjectKind.BLOCKS})
GROUP = GatewayGroup(name="Lindenhof")


@pytest.mark.parametrize("kind", WAITING)
def test_each_kind_of_element_has_writers_and_a_way_back(kind: ObjectKind) -> None:
    assert _WRITTEN[kind] and kind in restoration._RESTORE


@pytest.mark.parametrize("kind", [*WAITING, *kinds.SPECIAL])
def test_each_kind_has_its_words(kind: str) -> None:
    held = HeldBack(group=GROUP, kind=kind, removed=12, of=40, earlier=2, packed=b"")
    if kind != kinds.ROLLBACK:
        assert texts.render_title(held)
    words = [texts.render_reason(held), texts.render_button(held), texts.render_kind(held), texts.render_undo(held)]
    assert all(words)
