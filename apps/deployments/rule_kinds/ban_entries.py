"""Describes bans and allow entries as origins of elements: comment, author and end."""

from datetime import datetime

from django.utils.translation import gettext as _

from apps.bans.models import AllowEntry, Ban
from apps.lib.ui import formats


def describe_entry(row: Ban | AllowEntry, at: datetime) -> str:
    """Describe the row's comment, author and end."""
    by = _("by %(author)s") % {"author": row.author.name} if row.author else ""
    ends = _("ends %(moment)s") % {"moment": formats.format_moment(row.expires, at, with_zone=True)} if row.expires else _("permanent")
    comment = _("“%(comment)s”") % {"comment": row.comment} if row.comment else ""
    return ", ".join(filter(None, [comment, by, ends]))
