from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class DeskConfig(AppConfig):
    name = "apps.desk"

    def ready(self) -> None:
        from apps.audit.trail import RowUndoPolicy, TrailPresentation, register_trail
        from apps.desk.needs.collection import count_attention_items
        from apps.lib.web import navigation
        from apps.preferences import services
        from apps.preferences.models import NetworkSettings

        register_trail(
            TrailPresentation(
                NetworkSettings,
                called=_("Settings"),
                href=lambda _row: reverse("desk:settings"),
                undo_by=RowUndoPolicy(
                    "desk:settings-undo", services.reset_settings, services.explain_settings_error, prepare=services.check_settings
                ),
            )
        )
        navigation.register_counter("desk:dashboard")(count_attention_items)
