"""Template context of the panel with a member's IPv6 pinholes: rows with their activation, and what was just saved."""

from typing import Any

from apps.lib.ui.activation_status import build_poll_trigger, list_activation_statuses
from apps.members.models import Member
from apps.nat.pinholes.forms import PinholeForm
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_cached_pinholes


def build_pinholes_context(
    member: Member, *, form: PinholeForm | None = None, saved: int = 0, removed: int = 0, problem: str = ""
) -> dict[str, Any]:
    """Build the context of templates/nat/pinholes.html. `saved`, `removed`: ids of pinholes just written; `problem`: why a write failed.

    Its names differ from those of other panels, because a member's page has several.
    """
    form = form or PinholeForm(member)
    gone = Pinhole.objects.filter(pk=removed, holding__member=member).first() if removed else None
    rows = list_activation_statuses(list_cached_pinholes(member))
    lifted = list_activation_statuses([gone] if gone else [])
    return {
        "member": member,
        "pinhole_rows": rows,
        "pinhole_form": form,
        "pinhole_saved": next((row for row in rows if row.thing.pk == saved), None),
        "pinhole_removed": lifted[0] if lifted else None,
        "pinhole_problem": problem,
        "prefixes6": form.prefixes,
        "poll_pinholes": build_poll_trigger([*rows, *lifted]),
    }
