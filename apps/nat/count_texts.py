"""Texts for numbers of forwards, mappings and pinholes, and for moves."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.lib.ui.formats import format_day, format_number
from apps.nat.moving.models import Move


def format_forward_count(many: int) -> str:
    """Return “2 port forwards”."""
    return ngettext("%(number)s port forward", "%(number)s port forwards", many) % {"number": format_number(many)}


def format_mapping_count(many: int) -> str:
    """Return “1 NAT mapping”."""
    return ngettext("%(number)s NAT mapping", "%(number)s NAT mappings", many) % {"number": format_number(many)}


def format_pinhole_count(many: int) -> str:
    """Return “3 IPv6 pinholes”."""
    return ngettext("%(number)s IPv6 pinhole", "%(number)s IPv6 pinholes", many) % {"number": format_number(many)}


def describe_move_target(move: Move) -> str:
    """Return “to A-101 on 1 Dec 2026”. The room is named only if it is loaded already: lists load the rooms of all their rows at once."""
    facts = {"day": format_day(move.on), "room": move._state.fields_cache.get("room")}
    if facts["room"]:
        return _("to %(room)s on %(day)s") % facts
    if move.room_id:
        return _("to another room on %(day)s") % facts
    return (_("to another address on %(day)s") if move.pool_id else _("to a room that was removed since, on %(day)s")) % facts
