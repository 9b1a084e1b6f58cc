"""What a token can be limited to besides its scopes: one member, one house, one gateway group. Their apps say what these are.

Who chooses one must be allowed to see all of its kind: names are shown there. A limit never widens what a token may do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms

from apps.accounts.roles import Right


@dataclass(frozen=True)
class TokenLimit:
    """name: as `tokens.create` calls it. right: what it takes to choose. field: of a form; it gives an id, or None. called: what the
    thing of this id is called, after "only"; "" when it is gone."""

    name: str
    right: Right
    field: Callable[[], forms.Field]
    called: Callable[[int], str]


_known: dict[str, TokenLimit] = {}


def register_limit(limit: TokenLimit) -> None:
    """Register it, in the ready() of the app that owns the thing."""
    _known[limit.name] = limit


def list_limits() -> list[TokenLimit]:
    """All that there are."""
    return list(_known.values())


class LimitChoiceField(forms.TypedChoiceField):
    """One of a few things, or none of them, which is no limit."""

    def __init__(self, label: Any, choices: Callable[[], list[tuple[Any, str]]]) -> None:
        super().__init__(label=label, required=False, coerce=int, empty_value=None, choices=lambda: [("", "–"), *choices()])
