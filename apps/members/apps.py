from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class MembersConfig(AppConfig):
    name = "apps.members"

    def ready(self) -> None:
        from apps.audit.trail import UNSHOWN, RowUndoPolicy, TrailPresentation, register_trail
        from apps.lib.row_uses import register_use
        from apps.lib.ui import formats
        from apps.lib.web import language_switch
        from apps.members import member_token_limits, own_devices, site_services, tariff_services
        from apps.members.models import Departure, Device, Member, MemberInvitation, Room, Site, Tariff
        from apps.members.room_uses import find_resident_use

        language_switch.register_language_saver(own_devices.remember_language)
        member_token_limits.register_member_token_restrictions()
        register_use(Room, find_resident_use)
        register_trail(
            TrailPresentation(
                Member,
                called=_("Member"),
                words=lambda row: f"{row.name}, M-{row.number}",
                href=lambda row: reverse("desk:member", args=[row.pk]),
            )
        )
        register_trail(
            TrailPresentation(
                MemberInvitation,
                called=_("Invitation of a member"),
                part_of="member",
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=UNSHOWN | {"by", "made"},
            )
        )
        register_trail(
            TrailPresentation(
                Departure,
                called=_("Departure"),
                part_of="member",
                words=lambda row: formats.format_day(row.on),
                href=lambda row: reverse("desk:member", args=[row.member_id]),
                unshown=UNSHOWN | {"by", "planned"},
            )
        )
        register_trail(
            TrailPresentation(
                Device,
                called=_("Device"),
                part_of="member",
                words=lambda row: f"{row.name} {row.mac}",
                href=lambda row: reverse("desk:member", args=[row.member_id]),
            )
        )
        register_trail(
            TrailPresentation(
                Tariff,
                called=_("Tariff"),
                href=lambda row: reverse("members:tariff", args=[row.pk]),
                undo_by=RowUndoPolicy("members:tariff-undo", tariff_services.remove_tariff, tariff_services.explain_tariff_error),
            )
        )
        register_trail(
            TrailPresentation(
                Site,
                called=_("House"),
                href=lambda row: reverse("members:site", args=[row.pk]),
                undo_by=RowUndoPolicy("members:site-undo", site_services.remove_site, site_services.explain_site_error, parts=(Room,)),
            )
        )
        register_trail(
            TrailPresentation(
                Room,
                called=_("Room"),
                names=frozenset({"site"}),
                href=lambda row: reverse("members:room", args=[row.pk]),
                undo_by=RowUndoPolicy("members:room-undo", site_services.remove_room, site_services.explain_room),
            )
        )
