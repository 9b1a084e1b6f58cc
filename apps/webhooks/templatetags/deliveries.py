"""Why a delivery did not arrive, and what webhooks are told, in words: {% load deliveries %}{{ row.error|why }}."""

from collections.abc import Iterable

from django import template

from apps.accounts.collection_names import called
from apps.webhooks import error_texts

register = template.Library()


@register.filter
def why(error: str) -> str:
    """As one sentence."""
    return error_texts.why(error)


@register.filter
def things(names: Iterable[str]) -> list[str]:
    """Collections, as people call them."""
    return [str(called(name)) for name in names]


@register.filter
def happenings(names: Iterable[str]) -> list[str]:
    """What becomes of them."""
    return [str(error_texts.HAPPENINGS.get(name, name)) for name in names]
