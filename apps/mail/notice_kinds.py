"""Kinds of notices that people can switch off. Each app names its own, when it is ready."""

from django.utils.functional import Promise

_kinds: dict[str, str | Promise] = {}
_of_staff: set[str] = set()


def register_kind(kind: str, words: str | Promise, *, for_staff: bool = False) -> None:
    """`tell("quota", _("Mails when your traffic nears its quota"))`; kind: at most 20 letters, for ever the same."""
    _kinds[kind] = words
    if for_staff:
        _of_staff.add(kind)


def find_label(kind: str) -> str | None:
    """What the kind is called; None for one that nobody named."""
    return str(_kinds[kind]) if kind in _kinds else None


def list_member_kinds() -> list[tuple[str, str]]:
    """Those that members get: each kind and what it is called."""
    return [(kind, str(words)) for kind, words in _kinds.items() if kind not in _of_staff]
