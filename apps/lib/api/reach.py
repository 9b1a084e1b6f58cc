"""How far a limited token reaches: the things of one member, of one gateway group, or of the members of one house.

A collection says how the ORM reaches each of these from its rows. What it says nothing of is closed to a token that is limited so.
"""

from collections.abc import Mapping
from typing import Any, Final

WAYS: Final[Mapping[str, str]] = {"member_id": "member_path", "group_id": "group_path", "site_id": "site_path"}
"""A limit of a token, and by which attribute of a collection its rows are limited."""


def limited(token: object) -> bool:
    """Whether the token is for some things alone; no token, as with a session, is not."""
    return any(getattr(token, limit, None) is not None for limit in WAYS)


def limits(token: object, view: Any) -> dict[str, int]:
    """What the rows of this collection must be, for a filter; a path is "" where the collection is closed to such a token."""
    given = {way: getattr(token, limit, None) for limit, way in WAYS.items()}
    return {str(getattr(view, way, "")): value for way, value in given.items() if value is not None}


def closed(token: object, view: Any) -> bool:
    """Whether nothing of this collection is within the token's reach."""
    return "" in limits(token, view)
