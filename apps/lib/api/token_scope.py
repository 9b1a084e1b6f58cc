"""Scope of limited tokens: the objects of one member, of one gateway group, or of the members of one site.

A collection declares the ORM paths to these from its rows. If it declares no path, it is closed to tokens with that limit.
"""

from collections.abc import Mapping
from typing import Any, Final

WAYS: Final[Mapping[str, str]] = {"member_id": "member_path", "group_id": "group_path", "site_id": "site_path"}
"""Limits of a token, and the collection's attribute with the ORM path for each."""
NAMES: Final = frozenset({"*:read", "*:write", "member:read", "member:write"})
"""Scopes that include reading members."""


def is_token_scoped(token: object) -> bool:
    """True if the token has a limit. A session (no token) has none."""
    return any(getattr(token, limit, None) is not None for limit in WAYS)


def build_scope_filter(token: object, view: Any) -> dict[str, int]:
    """Return the ORM filter for this collection's rows. The key is "" if the collection is closed to the token."""
    given = {way: getattr(token, limit, None) for limit, way in WAYS.items()}
    return {str(getattr(view, way, "")): value for way, value in given.items() if value is not None}


def find_owner_id(row: object) -> int | None:
    """Return the id of the member that a row belongs to; None if there is none."""
    if getattr(getattr(row, "_meta", None), "label_lower", "") == "members.member":
        return int(row.pk)  # type: ignore[attr-defined]  # it is a row
    member: int | None = getattr(row, "member_id", None)
    return getattr(getattr(row, "holding", None), "member_id", None) if member is None else member


def is_outside_scope(token: object, row: object) -> bool:
    """True if the row is known to be outside the scope of a limited token."""
    member, group, site = (getattr(token, limit, None) for limit in WAYS)
    if member is not None:
        return find_owner_id(row) not in (None, member)
    if group is not None:
        return getattr(row, "group_id", None) not in (None, group)
    return site is not None and find_owner_id(row) is not None and _find_site_id(row) != site


def _find_site_id(row: Any) -> int | None:
    """Return the id of the site where the row's member lives."""
    member = row if hasattr(row, "room") else getattr(row, "member", None) or row.holding.member
    return member.room.site_id if member.room else None


def can_token_see_member(token: object, of: object = None) -> bool:
    """True if the token may read which member this row belongs to; without a row, which members there are.

    For sessions it is always True, because roles decide there.
    """
    if token is None or (of is not None and find_owner_id(of) is None):
        return True
    if not _has_names(token):
        return False
    return not is_token_scoped(token) if of is None else not (getattr(token, "group_id", None) is not None or is_outside_scope(token, of))


def _has_names(token: object) -> bool:
    scopes: list[str] | None = getattr(token, "scopes", None)
    return scopes is None or not NAMES.isdisjoint(scopes)


def is_collection_closed(token: object, view: Any) -> bool:
    """True if no row of this collection is within the token's scope."""
    return "" in build_scope_filter(token, view)
