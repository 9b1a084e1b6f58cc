"""What the person who looks at a page may do: the same table that lets people through (route_rights.py), so that the two cannot drift."""

import re
from typing import Any, Final

from django import template
from django.urls import Resolver404, resolve
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.permissions import can_use_page

register = template.Library()
ANCHOR: Final = re.compile(r"</?a\b[^>]*>")


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], where: str, what: str = "") -> bool:
    """{% may "desk:member-edit" as editable %}: may this person use the page, by its name or its address? Of one that can be looked
    at and sent to: send; with "see": look."""
    request, name = context.get("request"), _find_route_name(where) if where and where.startswith("/") else where
    return request is not None and can_use_page(request.user, name, see=what == "see")


def _find_route_name(path: str) -> str:
    try:
        return resolve(path.partition("?")[0].partition("#")[0]).view_name
    except Resolver404:
        return ""


@register.simple_block_tag(takes_context=True, name="allowed")
def render_if_allowed(context: dict[str, Any], content: str, where: str, what: str = "", keep: bool = False) -> SafeString:
    """{% allowed "desk:member-edit" %}<a class="btn" …>Edit</a>{% endallowed %}: only for whoever may go there, as `may` says; with
    `keep` others read the words without the link."""
    if may(context, where, what):
        return SafeString(content)
    return mark_safe(ANCHOR.sub("", content) if keep else "")  # noqa: S308 - the template's own text, escaped already
