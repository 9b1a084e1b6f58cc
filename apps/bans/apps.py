from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class BansConfig(AppConfig):
    name = "apps.bans"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.bans import undo
        from apps.bans.blocks import selectors
        from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Block, Listener, Notice, Reachable, ServerInterface

        register_trail(TrailPresentation(AllowEntry, called=_("Allow entry"), href=_build_entry_url))
        register_trail(TrailPresentation(Ban, called=_("Ban"), undo=undo.map_restore_urls))
        register_trail(TrailPresentation(BanList, called=_("Ban list")))
        register_trail(TrailPresentation(Notice, called=_("Notice page"), href=_build_notice_url))
        register_trail(TrailPresentation(BanFeed, called=_("Feed"), part_of="list"))
        who = {"lifted_by": _("lifted by"), "author": _("by")}
        register_trail(
            TrailPresentation(
                Block, called=_("Block"), part_of="member", href=_build_block_url, undo=selectors.map_restore_urls, fields=who
            )
        )
        register_trail(TrailPresentation(Listener, called=_("Listener"), href=_build_listener_url, unshown=UNSHOWN | {"group"}))
        register_trail(TrailPresentation(Reachable, called=_("Stays reachable while blocked"), part_of="notice"))
        register_trail(TrailPresentation(ServerInterface, called=_("Interface for servers"), part_of="gateway"))


def _build_notice_url(row: Any) -> str:
    return reverse("bans:notice", args=[row.group_id])


def _build_entry_url(row: Any) -> str:
    return reverse("bans:allow_entry", args=[row.pk])


def _build_block_url(row: Any) -> str:
    return reverse("bans:block", args=[row.pk])


def _build_listener_url(row: Any) -> str:
    return reverse("bans:listener", args=[row.pk])
