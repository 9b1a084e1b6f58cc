from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class BansConfig(AppConfig):
    name = "apps.bans"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, Trail, tell
        from apps.bans import undo
        from apps.bans.blocks import selectors
        from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Block, Listener, Notice, Reachable, ServerInterface

        tell(Trail(AllowEntry, called=_("Allow entry"), href=_entrys_page))
        tell(Trail(Ban, called=_("Ban"), undo=undo.restoring_addresses))
        tell(Trail(BanList, called=_("Ban list")))
        tell(Trail(Notice, called=_("Notice page"), href=_notice_page))
        tell(Trail(BanFeed, called=_("Feed"), part_of="list"))
        who = {"lifted_by": _("lifted by"), "author": _("by")}
        tell(Trail(Block, called=_("Block"), part_of="member", href=_block_page, undo=selectors.restoring_addresses, fields=who))
        tell(Trail(Listener, called=_("Listener"), href=_listener_page, unshown=UNSHOWN | {"group"}))
        tell(Trail(Reachable, called=_("Stays reachable while blocked"), part_of="notice"))
        tell(Trail(ServerInterface, called=_("Interface for servers"), part_of="gateway"))


def _notice_page(row: Any) -> str:
    return reverse("bans:notice", args=[row.group_id])


def _entrys_page(row: Any) -> str:
    return reverse("bans:allow_entry", args=[row.pk])


def _block_page(row: Any) -> str:
    return reverse("bans:block", args=[row.pk])


def _listener_page(row: Any) -> str:
    return reverse("bans:listener", args=[row.pk])
