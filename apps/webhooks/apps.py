from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "apps.webhooks"

    def ready(self) -> None:
        from django.urls import reverse
        from django.utils.translation import gettext_lazy as _

        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.lib.web import navigation
        from apps.webhooks.models import Endpoint
        from apps.webhooks.selectors import count_failing

        register_trail(
            TrailPresentation(Endpoint, called=_("Webhook"), href=lambda row: reverse("webhooks:webhook", args=[row.pk]), unshown=UNSHOWN)
        )
        navigation.register_counter("webhooks:list")(count_failing)
