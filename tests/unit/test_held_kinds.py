"""Every kind of change that can wait for an approval has requesters, a way back and its texts."""

from dataclasses import fields

import pytest

from apps.deployments.approvals import kinds, texts
from apps.deployments.models import HeldBack
from apps.deployments.rule_kinds.registry import KINDS, get_removal_definition
from apps.network.models import GatewayGroup
from firewall.blast_radius import HARMLESS
from firewall.policy import Policy, TouchedKeys
from firewall.sets import FAMILIES, ObjectKind

WAITING = sorted({family.kind for family in FAMILIES} - HARMLESS | {ObjectKind.BLOCKS})
GROUP = GatewayGroup(name="Lindenhof")


@pytest.mark.parametrize("kind", WAITING)
def test_each_kind_of_element_has_writers_and_a_way_back(kind: ObjectKind) -> None:
    removal = get_removal_definition(kind)
    assert removal.sources and removal.history and str(removal.undo)


@pytest.mark.parametrize("kind", [*WAITING, *kinds.SPECIAL])
def test_each_kind_has_its_words(kind: str) -> None:
    held = HeldBack(group=GROUP, kind=kind, removed=12, of=40, earlier=2, packed=b"")
    if kind != kinds.ROLLBACK:
        assert texts.render_title(held)
    words = [texts.render_reason(held), texts.render_button(held), texts.render_kind(held), texts.render_refusal_effect(held)]
    assert all(words)


def test_each_kind_of_element_is_registered_and_each_field_of_a_policy_is_read_by_one_kind() -> None:
    assert set(KINDS) == {family.kind for family in FAMILIES}
    read = [name for kind in KINDS.values() for name in kind.readers]
    assert sorted([*read, "gateway", "owners"]) == sorted(field.name for field in fields(Policy))


def test_each_touched_key_of_a_policy_is_parsed_from_notes() -> None:
    assert {notes.field for kind in KINDS.values() for notes in kind.notes} == {field.name for field in fields(TouchedKeys)}
