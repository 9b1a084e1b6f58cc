"""What the panel of a member's port forwards shows: rows with their gateways, and what was just saved."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.lib.activation import Activation, activations
from apps.lib.states import On, Post
from apps.members.models import Member
from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.selectors import forwards_of, public_addresses_of


@dataclass(frozen=True)
class Row:
    """A forward and how it stands on each gateway."""

    forward: PortForward
    gateways: list[Activation]

    @property
    def posts(self) -> list[Post]:
        """The pair: while a change is under way, half."""
        there = On.FULL if self.forward.enabled else On.HOLLOW
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
        return max(0.0, (max(times) - self.forward.changed_at).total_seconds())


def context(member: Member, *, form: ForwardForm | None = None, saved: int = 0, removed: int = 0, problem: str = "") -> dict[str, Any]:
    """What templates/nat/forwards.html needs. `saved`, `removed`: ids of forwards just written; `problem`: why not."""
    shown = list(forwards_of(member))
    gone = PortForward.objects.filter(pk=removed, holding__member=member).first() if removed else None
    rows = [Row(forward, known) for forward, known in activations(shown)]
    lifted = [Row(forward, known) for forward, known in activations([gone])] if gone else []
    mine = next((row for row in rows if row.forward.pk == saved), None)
    return {
        "member": member,
        "rows": rows,
        "form": form or ForwardForm(member),
        "saved": mine,
        "problem": problem,
        "removed": lifted[0] if lifted else None,
        "most": member.tariff.most_forwards,
        "public_addresses": public_addresses_of(member),
        "poll": _poll([*rows, *lifted]),
    }


def _poll(rows: list[Row]) -> str:
    """How often the panel looks again: often while gateways are at it, now and then while it waits for somebody."""
    missing = [each for row in rows for each in row.gateways if not each.since]
    if not missing:
        return ""
    return "every 5s" if all(each.waits and each.waits.person for each in missing) else "every 500ms"
