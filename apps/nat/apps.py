from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class NatConfig(AppConfig):
    name = "apps.nat"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, Trail, tell
        from apps.lib.dependents import hang
        from apps.nat import reopening
        from apps.nat.count_texts import count_of_forwards, count_of_mappings, count_of_pinholes, goal_of_move
        from apps.nat.models import Move, NatMapping, Pinhole, PortForward, PortRules
        from apps.network.models import Holding

        hang(Holding, lambda ids: PortForward.objects.filter(holding__in=ids), count_of_forwards)
        hang(Holding, lambda ids: NatMapping.objects.filter(holding__in=ids), count_of_mappings)
        hang(Holding, lambda ids: Pinhole.objects.filter(holding__in=ids), count_of_pinholes)
        hidden = UNSHOWN | {"by", "planned"}
        tell(
            Trail(
                Move,
                called=_("Move"),
                part_of="member",
                words=goal_of_move,
                names=frozenset({"room"}),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=hidden,
            )
        )
        tell(Trail(PortRules, called=_("Ports of members"), href=lambda row: reverse("nat:rules", args=[row.group_id])))
        unshown = UNSHOWN | {"group", "kind", "pool"}
        tell(Trail(PortForward, called=_("Port forward"), part_of="holding", href=_holders_page, undo=reopening.forwards, unshown=unshown))
        hidden = UNSHOWN | {"group", "kind", "prefix"}
        tell(Trail(Pinhole, called=_("IPv6 pinhole"), part_of="holding", href=_holders_page, undo=reopening.pinholes, unshown=hidden))
        tell(Trail(NatMapping, called=_("NAT mapping"), part_of="holding", href=_holders_page, unshown=unshown))


def _holders_page(row: Any) -> str:
    """The page of the member who holds the address."""
    return reverse("desk:member", args=[row.holding.member_id]) if row.holding else ""
