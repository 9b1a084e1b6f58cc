"""Template context of the panel with a member's port forwards: rows with their activation, and what was just saved."""

from typing import Any

from apps.lib.ui.activation_status import build_poll_trigger, list_activation_statuses
from apps.members.models import Member
from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.selectors import list_cached_forwards, list_member_public_addresses


def build_forwards_context(
    member: Member, *, form: ForwardForm | None = None, saved: int = 0, removed: int = 0, problem: str = ""
) -> dict[str, Any]:
    """Build the context of templates/nat/forwards.html. `saved`, `removed`: ids of forwards just written; `problem`: why a write failed."""
    gone = PortForward.objects.filter(pk=removed, holding__member=member).first() if removed else None
    rows = list_activation_statuses(list_cached_forwards(member))
    lifted = list_activation_statuses([gone] if gone else [])
    mine = next((row for row in rows if row.thing.pk == saved), None)
    return {
        "member": member,
        "rows": rows,
        "form": form or ForwardForm(member),
        "saved": mine,
        "problem": problem,
        "removed": lifted[0] if lifted else None,
        "most": member.tariff.most_forwards,
        "public_addresses": list_member_public_addresses(member),
        "poll": build_poll_trigger([*rows, *lifted]),
    }
