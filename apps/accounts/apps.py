from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "apps.accounts"

    def ready(self) -> None:
        from apps.accounts.language_middleware import remember
        from apps.accounts.models import ApiToken, Invitation, RoleChange, User
        from apps.accounts.permissions import may_look
        from apps.accounts.security_log import listen
        from apps.audit.trail import UNSHOWN, Trail, tell
        from apps.lib.web import language_switch, navigation

        listen()
        navigation.opens(may_look)
        language_switch.remembers(remember)
        tell(Trail(User, called=_("Account"), words=lambda row: row.name, href=lambda row: reverse("accounts:person", args=[row.pk])))
        tell(Trail(ApiToken, called=_("Token"), words=lambda row: row.name))
        tell(Trail(Invitation, called=_("Invitation of staff"), words=lambda row: row.email))
        tell(
            Trail(
                RoleChange,
                part_of="user",
                called=_("Change of roles"),
                words=lambda row: row.reason,
                href=lambda row: reverse("accounts:person", args=[row.user_id]),
                unshown=UNSHOWN | {"user", "by", "asked", "old", "new", "decided"},
            )
        )
