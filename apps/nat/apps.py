from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class NatConfig(AppConfig):
    name = "apps.nat"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, Trail, register_trail
        from apps.lib.dependents import register_dependents
        from apps.lib.row_uses import register_use
        from apps.members.models import Room
        from apps.nat import reopening
        from apps.nat.count_texts import (
            describe_move_goal,
            format_forward_count,
            format_mapping_count,
            format_pinhole_count,
        )
        from apps.nat.models import Move, NatMapping, Pinhole, PortForward, PortRules
        from apps.nat.row_uses import find_planned_moves, find_pool_mappings, find_pool_moves
        from apps.network.models import Holding, Pool
        from apps.network.pool_lifecycle import register_tenants

        register_use(Room, find_planned_moves)
        register_use(Pool, find_pool_mappings)
        register_use(Pool, find_pool_moves)
        register_tenants(NatMapping, "public")
        register_tenants(PortForward, "public")
        register_dependents(Holding, lambda ids: PortForward.objects.filter(holding__in=ids), format_forward_count)
        register_dependents(Holding, lambda ids: NatMapping.objects.filter(holding__in=ids), format_mapping_count)
        register_dependents(Holding, lambda ids: Pinhole.objects.filter(holding__in=ids), format_pinhole_count)
        hidden = UNSHOWN | {"by", "planned"}
        register_trail(
            Trail(
                Move,
                called=_("Move"),
                part_of="member",
                words=describe_move_goal,
                names=frozenset({"room"}),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=hidden,
            )
        )
        register_trail(Trail(PortRules, called=_("Ports of members"), href=lambda row: reverse("nat:rules", args=[row.group_id])))
        unshown = UNSHOWN | {"group", "kind", "pool"}
        register_trail(
            Trail(
                PortForward,
                called=_("Port forward"),
                part_of="holding",
                href=_get_holder_url,
                undo=reopening.build_forward_urls,
                unshown=unshown,
            )
        )
        hidden = UNSHOWN | {"group", "kind", "prefix"}
        register_trail(
            Trail(
                Pinhole,
                called=_("IPv6 pinhole"),
                part_of="holding",
                href=_get_holder_url,
                undo=reopening.build_pinhole_urls,
                unshown=hidden,
            )
        )
        register_trail(Trail(NatMapping, called=_("NAT mapping"), part_of="holding", href=_get_holder_url, unshown=unshown))


def _get_holder_url(row: Any) -> str:
    """Return the URL of the page of the member who holds the address."""
    return reverse("desk:member", args=[row.holding.member_id]) if row.holding else ""
