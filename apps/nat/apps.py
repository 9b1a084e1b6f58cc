from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class NatConfig(AppConfig):
    name = "apps.nat"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.lib.dependents import register_dependents
        from apps.lib.row_uses import register_use
        from apps.members.membership_plans import register_plans
        from apps.members.models import Room
        from apps.nat import reopening
        from apps.nat.count_texts import (
            describe_move_target,
            format_forward_count,
            format_mapping_count,
            format_pinhole_count,
        )
        from apps.nat.models import Move, NatMapping, Pinhole, PortForward, PortRules
        from apps.nat.moving.services import drop_planned_moves, follow_merged_pool
        from apps.nat.row_uses import find_pool_mapping_use, find_pool_move_use, find_room_move_use
        from apps.network.models import Holding, Pool
        from apps.network.pool_lifecycle import register_pool_references, register_pool_rows

        register_use(Room, find_room_move_use)
        register_use(Pool, find_pool_mapping_use)
        register_use(Pool, find_pool_move_use)
        register_pool_rows(NatMapping, "public")
        register_pool_rows(PortForward, "public")
        register_pool_references(merge=follow_merged_pool)
        register_plans(drop_planned_moves)
        register_dependents(Holding, lambda ids: PortForward.objects.filter(holding__in=ids), format_forward_count)
        register_dependents(Holding, lambda ids: NatMapping.objects.filter(holding__in=ids), format_mapping_count)
        register_dependents(Holding, lambda ids: Pinhole.objects.filter(holding__in=ids), format_pinhole_count)
        hidden = UNSHOWN | {"by", "planned"}
        register_trail(
            TrailPresentation(
                Move,
                called=_("Move"),
                part_of="member",
                words=describe_move_target,
                names=frozenset({"room"}),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=hidden,
            )
        )
        register_trail(
            TrailPresentation(PortRules, called=_("Ports of members"), href=lambda row: reverse("nat:rules", args=[row.group_id]))
        )
        unshown = UNSHOWN | {"group", "kind", "pool"}
        register_trail(
            TrailPresentation(
                PortForward,
                called=_("Port forward"),
                part_of="holding",
                href=_get_holder_url,
                undo=reopening.build_forward_restore_urls,
                unshown=unshown,
            )
        )
        hidden = UNSHOWN | {"group", "kind", "prefix"}
        register_trail(
            TrailPresentation(
                Pinhole,
                called=_("IPv6 pinhole"),
                part_of="holding",
                href=_get_holder_url,
                undo=reopening.build_pinhole_restore_urls,
                unshown=hidden,
            )
        )
        register_trail(TrailPresentation(NatMapping, called=_("NAT mapping"), part_of="holding", href=_get_holder_url, unshown=unshown))


def _get_holder_url(row: Any) -> str:
    """Return the URL of the page of the member who holds the address."""
    return reverse("desk:member", args=[row.holding.member_id]) if row.holding else ""
