"""Limits of a token besides its scopes: to one member, one house or one gateway group. The apps of these things register them.

To choose a limit, an account must be allowed to see all things of its kind, because the choice shows their names. A limit never
widens what a token may do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms

from apps.accounts.roles import Right


@dataclass(frozen=True)
class TokenLimitKind:
    """A kind of thing to which a token can be limited.

    name: the argument of `tokens.create_token`. right: needed to choose this limit. field: makes a form field that gives an id, or None.
    called: returns the name of the thing with this id, to stand after "only"; "" if it no longer exists.
    """

    name: str
    right: Right
    field: Callable[[], forms.Field]
    called: Callable[[int], str]


_known: dict[str, TokenLimitKind] = {}


def register_token_limit(limit: TokenLimitKind) -> None:
    """Register a limit, in the ready() of the app that owns the thing."""
    _known[limit.name] = limit


def list_token_limits() -> list[TokenLimitKind]:
    """Return all registered limits."""
    return list(_known.values())


class TokenLimitField(forms.TypedChoiceField):
    """Form field for one of a few things, or for none, which means no limit."""

    def __init__(self, label: Any, choices: Callable[[], list[tuple[Any, str]]]) -> None:
        super().__init__(label=label, required=False, coerce=int, empty_value=None, choices=lambda: [("", "–"), *choices()])
