from django.apps import AppConfig


class InboundConfig(AppConfig):
    name = "apps.inbound"

    def ready(self) -> None:
        from apps.inbound.selectors import build_navigation_count
        from apps.lib.web import navigation

        navigation.register_counter("inbound:arrivals")(build_navigation_count)
