"""Template tags for rights: they read the same table that checks requests (route_rights.py), so the two cannot differ."""

import re
from functools import lru_cache
from typing import Any, Final

from django import template
from django.urls import Resolver404, URLResolver, get_resolver
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.permissions import can_use_page

register = template.Library()
ANCHOR: Final = re.compile(r"</?a\b[^>]*>")


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], where: str, what: str = "") -> bool:
    """True if this user may use the page with this route name or path: {% may "desk:member-edit" as editable %}

    If the page can be looked at and sent to, sending counts; with "see", looking counts.
    """
    is_path = bool(where) and where.startswith("/")
    request, name = context.get("request"), _find_route_name(where, get_resolver()) if is_path else where
    return request is not None and can_use_page(request.user, name, see=what == "see")


@lru_cache(4096)
def _find_route_name(path: str, routes: URLResolver) -> str:
    """Cached: a page of the history asks for fifty paths, and each is compared with hundreds of routes."""
    try:
        return routes.resolve(path.partition("?")[0].partition("#")[0]).view_name
    except Resolver404:
        return ""


@register.simple_block_tag(takes_context=True, name="allowed")
def render_if_allowed(context: dict[str, Any], content: str, where: str, what: str = "", keep: bool = False) -> SafeString:
    """Show the block only to users who may open the page, as `may` says; with `keep`, others see its text without the link.

    {% allowed "desk:member-edit" %}<a class="btn" …>Edit</a>{% endallowed %}
    """
    if may(context, where, what):
        return SafeString(content)
    return mark_safe(ANCHOR.sub("", content) if keep else "")  # noqa: S308 - the template's own text, already escaped
