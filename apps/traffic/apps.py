from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class TrafficConfig(AppConfig):
    name = "apps.traffic"

    def ready(self) -> None:
        from apps.audit.trail import TrailPresentation, register_trail
        from apps.mail import notice_kinds
        from apps.network.models import Uplink
        from apps.traffic import quota_notices
        from apps.traffic.models import FairShare, Quota, RateLimit

        register_trail(
            TrailPresentation(
                RateLimit,
                called=_("Rate limit"),
                part_of="member",
                href=_build_list_url,
                fields={"released_by": _("released by"), "author": _("by")},
            )
        )
        register_trail(TrailPresentation(FairShare, called=_("Fair share"), part_of="group", href=_build_fair_share_url))
        register_trail(
            TrailPresentation(Quota, called=_("Quota"), part_of="tariff", href=_build_quotas_url, fields={"octets": _("bytes a month")})
        )
        notice_kinds.register_kind(quota_notices.KIND, _("Mails when your traffic quota is nearly or wholly used up"))
        register_trail(TrailPresentation(Uplink, called=_("Uplink"), part_of="group", href=_build_uplink_url))


def _build_list_url(_row: Any) -> str:
    return reverse("rates:list")


def _build_quotas_url(_row: Any) -> str:
    return reverse("traffic:quotas")


def _build_uplink_url(row: Any) -> str:
    return reverse("rates:uplink", args=[row.group_id])


def _build_fair_share_url(row: Any) -> str:
    return reverse("fairshare:edit", args=[row.group_id])
