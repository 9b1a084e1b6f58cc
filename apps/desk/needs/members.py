"""The need that members wait to be activated."""

from collections.abc import Iterator

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.needs.need import AttentionItem
from apps.desk.result_cache import count_members
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.members.models import Member


def iter_attention_items() -> Iterator[AttentionItem]:
    """Yield the number of members who wait, with the names of the first ones."""
    waiting = Member.objects.filter(state=Member.State.PENDING).order_by("since", "pk").values_list("name", flat=True)[:3]
    number = count_members()["pending"]
    if number and waiting:
        yield AttentionItem(
            "pending",
            StateLabel(StateKind.WAIT, _("Waiting")),
            ngettext("%(n)s member waits for activation", "%(n)s members wait for activation", number)
            % {"n": formats.format_number(number)},
            ", ".join(waiting) + (" …" if number > len(waiting) else ""),
            None,
            _("Review"),
            f"{resolve_url('desk:members')}?view=pending",
        )
