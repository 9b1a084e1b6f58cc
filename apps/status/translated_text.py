"""Texts that people write in two languages, of which one may be missing."""

from django.utils.translation import get_language


def pick_language(*, en: str, de: str) -> str:
    """Return the text in the active language, or the other if it is empty."""
    return (de or en) if (get_language() or "").startswith("de") else (en or de)
