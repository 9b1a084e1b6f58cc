"""Registry of the kinds of objects that reach the gateways. A new kind is one module beside this one, and one entry here."""

from typing import Final

from apps.deployments.rule_kinds.allow_list import ALLOWED
from apps.deployments.rule_kinds.bans import BANS
from apps.deployments.rule_kinds.blocks import BLOCKS
from apps.deployments.rule_kinds.forwards import FORWARDS
from apps.deployments.rule_kinds.holdings import ADDRESSES, PREFIXES
from apps.deployments.rule_kinds.kind import ElementOrigin, RemovalDefinition, RuleKind, SetElement
from apps.deployments.rule_kinds.listeners import LISTENERS
from apps.deployments.rule_kinds.mappings import MAPPINGS
from apps.deployments.rule_kinds.pinholes import PINHOLES
from apps.deployments.rule_kinds.rates import RATES
from firewall.sets import ObjectKind, find_set_family

KINDS: Final[dict[ObjectKind, RuleKind]] = {
    each.kind: each for each in (ADDRESSES, PREFIXES, MAPPINGS, FORWARDS, PINHOLES, BANS, ALLOWED, BLOCKS, LISTENERS, RATES)
}


def get_removal_definition(kind: ObjectKind) -> RemovalDefinition:
    """Return what the kind defines about removals. Raises TypeError for a kind of which removals never wait."""
    removal = KINDS[kind].removal
    if removal is None:
        raise TypeError(f"Removals of {kind} do not wait for approval.")
    return removal


def list_element_origins(found: SetElement) -> list[ElementOrigin]:
    """Return all objects that the element stands for; none if unknown, as for a set that belongs to no kind."""
    family = find_set_family(found.declaration.name)
    return KINDS[family.kind].list_origins(found) if family else []
