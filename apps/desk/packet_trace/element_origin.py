"""Origins of set elements: the members, NAT mappings, forwards, bans and other objects that they were made from."""

from apps.deployments.rule_kinds.kind import ElementOrigin, FoundElement
from apps.deployments.rule_kinds.registry import KINDS
from firewall.sets import find_family


def list_origins(found: FoundElement) -> list[ElementOrigin]:
    """Return all objects that the element stands for; none if unknown, as for a set that belongs to no kind."""
    family = find_family(found.declaration.name)
    return KINDS[family.kind].list_origins(found) if family else []
