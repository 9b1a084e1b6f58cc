from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class BansConfig(AppConfig):
    name = "apps.bans"

    def ready(self) -> None:
        from apps.audit.trail import Trail, tell
        from apps.bans.models import AllowEntry, BanFeed

        tell(Trail(AllowEntry, called=_("Allow entry"), href=_entrys_page))
        tell(Trail(BanFeed, called=_("Feed"), part_of="list"))


def _entrys_page(row: Any) -> str:
    return reverse("bans:allow_entry", args=[row.pk])
