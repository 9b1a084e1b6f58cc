"""What bans and allow entries share: when they end, the note of a prefix, and the description of an entry."""

from collections.abc import Iterator
from datetime import datetime
from ipaddress import ip_network
from typing import Final

from django.utils.translation import gettext as _

from apps.bans.models import AllowEntry, Ban
from apps.lib.fields import Prefix
from apps.lib.ui import formats

# A row ends for the gateways together with its element, whose end is a whole second: when the second in which it expires is over. Read
# without it before that, its element would be removed, as if a person had done so.
NOT_ENDED_SQL: Final = "({row}.expires IS NULL OR {row}.expires > %(second)s::timestamptz)"


def parse_prefix_note(text: str) -> Iterator[Prefix]:
    """Yield the prefix that a note names."""
    yield ip_network(text)


def describe_ban_entry(row: Ban | AllowEntry, at: datetime) -> str:
    """Describe the row's comment, author and end."""
    by = _("by %(author)s") % {"author": row.author.name} if row.author else ""
    ends = _("ends %(moment)s") % {"moment": formats.format_moment(row.expires, at, with_zone=True)} if row.expires else _("permanent")
    comment = _("“%(comment)s”") % {"comment": row.comment} if row.comment else ""
    return ", ".join(filter(None, [comment, by, ends]))
