"""Roles of accounts, and the rights that each role gives.

An account has any number of roles and may do what any of them allows; route_rights.py says which right a page or an action of the
API needs. Automation is for scripts: it counts only with a token, never in a browser.
"""

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    MEMBER = "member", _("member")
    HELPDESK = "helpdesk", _("help desk")
    NETWORK_ADMIN = "network_admin", _("network administrator")
    APPROVER = "approver", _("approver")
    AUDITOR = "auditor", _("auditor")
    AUTOMATION = "automation", _("automation")


class Right(Enum):
    """Rights that pages and actions require."""

    ANYONE = "anyone"  # also without signing in
    OWN = "own"  # one's own account
    SEE_MEMBERS = "see_members"
    SEE_NETWORK = "see_network"
    CHANGE_MEMBERS = "change_members"
    BLOCK = "block"
    ANSWER = "answer"  # write to members: tickets, announcements
    CHANGE_RULES = "change_rules"
    IMPORT_PEOPLE = "import_people"  # change members and rules in one: with their rooms, devices, addresses and forwards
    OPERATE = "operate"
    APPROVE = "approve"
    MANAGE_ACCOUNTS = "manage_accounts"
    DROP_ROLES = "drop_roles"  # withdraw or refuse a change of roles that waits


_SEES: Final = frozenset({Right.SEE_MEMBERS, Right.SEE_NETWORK})
_ROLES: Final = frozenset({Right.MANAGE_ACCOUNTS, Right.DROP_ROLES})
RIGHTS: Final[dict[Role, frozenset[Right]]] = {
    Role.MEMBER: frozenset(),
    Role.HELPDESK: frozenset({Right.SEE_MEMBERS, Right.CHANGE_MEMBERS, Right.BLOCK, Right.ANSWER}),
    Role.NETWORK_ADMIN: _SEES
    | {Right.CHANGE_MEMBERS, Right.BLOCK, Right.ANSWER, Right.CHANGE_RULES, Right.IMPORT_PEOPLE, Right.OPERATE, *_ROLES},
    Role.APPROVER: _SEES | {Right.APPROVE, Right.DROP_ROLES},
    Role.AUDITOR: _SEES,
    Role.AUTOMATION: _SEES | {Right.BLOCK, Right.CHANGE_RULES},
}
STAFF: Final = tuple(role for role in Role if RIGHTS[role])
"""Roles that see more than their own; as tuple, because the database computes `is_staff` from it."""


def compute_rights(roles: Iterable[str], *, by_token: bool) -> frozenset[Right]:
    """Return the rights of a signed-in account with these roles. Unknown roles allow nothing."""
    return _compute_rights(frozenset(roles), by_token)


@lru_cache(256)
def _compute_rights(roles: frozenset[str], by_token: bool) -> frozenset[Right]:
    """A page asks for each link on it."""
    known = {role for role in Role if role in roles}
    counted = known if by_token else known - {Role.AUTOMATION}
    return frozenset({Right.ANYONE, Right.OWN}).union(*(RIGHTS[role] for role in counted))


def list_roles_with_right(right: Right) -> list[str]:
    """Return the roles that give this right, except automation, which is not for people."""
    return [role.value for role in Role if right in RIGHTS[role] and role != Role.AUTOMATION]
