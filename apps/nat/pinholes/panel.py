"""What the panel of a member's IPv6 pinholes shows: rows with their gateways, and what was just saved."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.lib.activation import Activation, activations
from apps.lib.states import On, Post
from apps.members.models import Member
from apps.nat.pinholes.forms import PinholeForm
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import pinholes_of


@dataclass(frozen=True)
class Row:
    """A pinhole and how it stands on each gateway."""

    pinhole: Pinhole
    gateways: list[Activation]

    @property
    def posts(self) -> list[Post]:
        """The pair: while a change is under way, half."""
        there = On.FULL if self.pinhole.enabled else On.HOLLOW
        return [Post(each.gateway, there if each.since else On.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have it yet."""
        return [each.gateway for each in self.gateways if not each.since]

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation; None while one is missing."""
        times = [each.since for each in self.gateways if isinstance(each.since, datetime)]
        if not times or self.waits_for:
            return None
        return max(0.0, (max(times) - self.pinhole.changed_at).total_seconds())


def context(member: Member, *, form: PinholeForm | None = None, saved: int = 0, removed: int = 0, problem: str = "") -> dict[str, Any]:
    """What templates/nat/pinholes.html needs. `saved`, `removed`: ids of pinholes just written; `problem`: why not.

    The names are the panel's own: a member's page has other panels beside it.
    """
    form = form or PinholeForm(member)
    gone = Pinhole.objects.filter(pk=removed, holding__member=member).first() if removed else None
    rows = [Row(pinhole, known) for pinhole, known in activations(list(pinholes_of(member)))]
    lifted = [Row(pinhole, known) for pinhole, known in activations([gone])] if gone else []
    return {
        "member": member,
        "pinhole_rows": rows,
        "pinhole_form": form,
        "pinhole_saved": next((row for row in rows if row.pinhole.pk == saved), None),
        "pinhole_removed": lifted[0] if lifted else None,
        "pinhole_problem": problem,
        "prefixes6": form.prefixes,
        "poll_pinholes": _poll([*rows, *lifted]),
    }


def _poll(rows: list[Row]) -> str:
    """How often the panel looks again: often while gateways are at it, now and then while it waits for somebody."""
    missing = [each for row in rows for each in row.gateways if not each.since]
    if not missing:
        return ""
    return "every 5s" if all(each.waits and each.waits.person for each in missing) else "every 500ms"
