from django.apps import AppConfig


class InboundConfig(AppConfig):
    name = "apps.inbound_mail"
    label = "inbound"  # of tables, migrations and URLs

    def ready(self) -> None:
        from apps.inbound_mail.selectors import build_navigation_count
        from apps.lib.web import navigation

        navigation.register_counter("inbound:arrivals")(build_navigation_count)
