"""Template filters for deliveries: {% load deliveries %}{{ row.error|why }}."""

from collections.abc import Iterable

from django import template

from apps.accounts.collection_names import get_collection_name
from apps.webhooks import error_texts

register = template.Library()


@register.filter(name="why")
def explain_why(error: str) -> str:
    """Explain a delivery's error in one sentence."""
    return error_texts.explain_error(error)


@register.filter(name="things")
def name_collections(names: Iterable[str]) -> list[str]:
    """Return the names of collections for people."""
    return [str(get_collection_name(name)) for name in names]


@register.filter(name="happenings")
def name_happenings(names: Iterable[str]) -> list[str]:
    """Return the names of events for people."""
    return [str(error_texts.HAPPENINGS.get(name, name)) for name in names]
