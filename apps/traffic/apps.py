from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class TrafficConfig(AppConfig):
    name = "apps.traffic"

    def ready(self) -> None:
        from apps.audit.trail import Trail, tell
        from apps.mail import notice_kinds
        from apps.network.models import Uplink
        from apps.traffic import quota_notices
        from apps.traffic.models import FairShare, Quota, RateLimit

        tell(
            Trail(
                RateLimit, called=_("Rate limit"), part_of="member", href=_list, fields={"released_by": _("released by"), "author": _("by")}
            )
        )
        tell(Trail(FairShare, called=_("Fair share"), part_of="group", href=_fair_share))
        tell(Trail(Quota, called=_("Quota"), part_of="tariff", href=_quotas, fields={"octets": _("bytes a month")}))
        notice_kinds.tell(quota_notices.KIND, _("Mails when your traffic quota is nearly or wholly used up"))
        tell(Trail(Uplink, called=_("Uplink"), part_of="group", href=_uplink))


def _list(_row: Any) -> str:
    return reverse("rates:list")


def _quotas(_row: Any) -> str:
    return reverse("traffic:quotas")


def _uplink(row: Any) -> str:
    return reverse("rates:uplink", args=[row.group_id])


def _fair_share(row: Any) -> str:
    return reverse("fairshare:edit", args=[row.group_id])
