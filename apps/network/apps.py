from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class NetworkConfig(AppConfig):
    name = "apps.network"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, Trail, register_trail
        from apps.lib.dependents import register_dependents
        from apps.members.models import Member
        from apps.network import group_token_limits
        from apps.network.count_texts import format_holding_count
        from apps.network.models import Holding, Pool

        group_token_limits.register_group_limit()
        register_dependents(Member, lambda ids: Holding.objects.filter(member__in=ids), format_holding_count)
        register_trail(
            Trail(
                Holding,
                part_of="member",
                called=_("Address"),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=UNSHOWN | {"group", "kind"},
            )
        )
        register_trail(Trail(Pool, called=_("Pool"), href=lambda row: reverse("network:pool", args=[row.pk])))
