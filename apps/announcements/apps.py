from django.apps import AppConfig


class AnnouncementsConfig(AppConfig):
    name = "apps.announcements"

    def ready(self) -> None:
        from django.urls import reverse
        from django.utils.translation import gettext_lazy as _

        from apps.announcements.audience import KIND
        from apps.announcements.models import Announcement
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.mail import notice_kinds

        register_trail(
            TrailPresentation(
                Announcement,
                called=_("Announcement"),
                href=lambda row: reverse("announcements:announcement", args=[row.pk]),
                unshown=UNSHOWN | {"narrowed_by", "author", "created"},
            )
        )
        notice_kinds.register_kind(KIND, _("Mails with announcements of the administrators"))
