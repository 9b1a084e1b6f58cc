from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "apps.accounts"

    def ready(self) -> None:
        from apps.accounts.language_middleware import save_request_language
        from apps.accounts.models import ApiToken, Invitation, RoleChange, User
        from apps.accounts.permissions import can_view_page
        from apps.accounts.security_log import connect_signals
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.lib.web import language_switch, navigation

        connect_signals()
        navigation.register_access_check(can_view_page)
        language_switch.register_language_saver(save_request_language)
        register_trail(
            TrailPresentation(
                User, called=_("Account"), words=lambda row: row.name, href=lambda row: reverse("accounts:person", args=[row.pk])
            )
        )
        register_trail(TrailPresentation(ApiToken, called=_("Token"), words=lambda row: row.name))
        register_trail(TrailPresentation(Invitation, called=_("Invitation of staff"), words=lambda row: row.email))
        register_trail(
            TrailPresentation(
                RoleChange,
                part_of="user",
                called=_("Change of roles"),
                words=lambda row: row.reason,
                href=lambda row: reverse("accounts:person", args=[row.user_id]),
                unshown=UNSHOWN | {"user", "by", "asked", "old", "new", "decided"},
            )
        )
