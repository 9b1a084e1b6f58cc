"""Filters for the words of mails, whose text is no HTML."""

from datetime import datetime

from django import template

from apps.lib.ui import formats

register = template.Library()


@register.filter
def moment(at: datetime) -> str:
    """Thu 12 Nov 2026, 21:13 CET; Do, 12.11.2026, 21:13 Uhr MEZ."""
    return formats.format_full_time(at)
