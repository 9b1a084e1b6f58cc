"""Registry of the kinds of notices that readers can switch off. Each app registers its own in `ready()`."""

from django.utils.functional import Promise

_kinds: dict[str, str | Promise] = {}
_of_staff: set[str] = set()


def register_kind(kind: str, words: str | Promise, *, for_staff: bool = False) -> None:
    """Register a kind: `register_kind("quota", _("Mails when your traffic nears its quota"))`. kind: at most 20 letters, never changed."""
    _kinds[kind] = words
    if for_staff:
        _of_staff.add(kind)


def find_label(kind: str) -> str | None:
    """Return the kind's label; None if it is not registered."""
    return str(_kinds[kind]) if kind in _kinds else None


def list_member_kinds() -> list[tuple[str, str]]:
    """Return the kinds that members receive, each with its label."""
    return [(kind, str(words)) for kind, words in _kinds.items() if kind not in _of_staff]
