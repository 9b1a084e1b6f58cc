"""Why a delivery did not arrive, and what webhooks are told, in words: {% load deliveries %}{{ row.error|why }}."""

from collections.abc import Iterable

from django import template

from apps.accounts.collection_names import get_collection_name
from apps.webhooks import error_texts

register = template.Library()


@register.filter(name="why")
def explain_why(error: str) -> str:
    """As one sentence."""
    return error_texts.explain_error(error)


@register.filter(name="things")
def name_collections(names: Iterable[str]) -> list[str]:
    """Collections, as people call them."""
    return [str(get_collection_name(name)) for name in names]


@register.filter(name="happenings")
def name_happenings(names: Iterable[str]) -> list[str]:
    """What becomes of them."""
    return [str(error_texts.HAPPENINGS.get(name, name)) for name in names]
