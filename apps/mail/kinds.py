"""Kinds of notices that people can switch off. Each app names its own, when it is ready."""

from django.utils.functional import Promise

_kinds: dict[str, str | Promise] = {}


def tell(kind: str, words: str | Promise) -> None:
    """`tell("quota", _("Mails when your traffic nears its quota"))`; kind: at most 20 letters, for ever the same."""
    _kinds[kind] = words


def words_of(kind: str) -> str | None:
    """What the kind is called; None for one that nobody named."""
    return str(_kinds[kind]) if kind in _kinds else None
