from django.apps import AppConfig


class InboundConfig(AppConfig):
    name = "apps.inbound"

    def ready(self) -> None:
        from apps.inbound.selectors import asking
        from apps.lib.web import navigation

        navigation.counts("inbound:arrivals")(asking)
