from django.apps import AppConfig


class AnnouncementsConfig(AppConfig):
    name = "apps.announcements"

    def ready(self) -> None:
        from django.urls import reverse
        from django.utils.translation import gettext_lazy as _

        from apps.announcements.audience import KIND
        from apps.announcements.models import Announcement
        from apps.announcements.services import extend_audiences, merge_audiences
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.mail import notice_kinds
        from apps.network.pool_lifecycle import register_pool_references

        register_trail(
            TrailPresentation(
                Announcement,
                called=_("Announcement"),
                href=lambda row: reverse("announcements:announcement", args=[row.pk]),
                unshown=UNSHOWN | {"narrowed_by", "author", "created"},
            )
        )
        notice_kinds.register_kind(KIND, _("Mails with announcements of the administrators"))
        register_pool_references(merge=merge_audiences, extend=extend_audiences)
