from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class NetworkConfig(AppConfig):
    name = "apps.network"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, RowUndoPolicy, TrailPresentation, register_trail
        from apps.lib.dependents import register_dependents
        from apps.lib.row_uses import register_use
        from apps.members.models import Member
        from apps.network import group_token_limits, pool_removal, services
        from apps.network.count_texts import format_holding_count
        from apps.network.models import Holding, Pool

        group_token_limits.register_group_token_limit()
        register_dependents(Member, lambda ids: Holding.objects.filter(member__in=ids), format_holding_count)
        register_trail(
            TrailPresentation(
                Holding,
                part_of="member",
                called=_("Address"),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=UNSHOWN | {"group", "kind"},
            )
        )
        register_use(Pool, pool_removal.find_pool_holding_use)
        register_trail(
            TrailPresentation(
                Pool,
                called=_("Pool"),
                href=lambda row: reverse("network:pool", args=[row.pk]),
                undo_by=RowUndoPolicy(
                    route="network:pool-undo",
                    remove=pool_removal.remove_pool,
                    explain=services.explain_pool_error,
                    prepare=pool_removal.prepare_pool_undo,
                ),
            )
        )
