"""Template filters for the plain-text parts of mails."""

from datetime import datetime

from django import template

from apps.lib.ui import formats

register = template.Library()


@register.filter
def moment(at: datetime) -> str:
    """Format a time in full: Thu 12 Nov 2026, 21:13 CET; Do, 12.11.2026, 21:13 Uhr MEZ."""
    return formats.format_full_time(at)
