from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "apps.desk"

    def ready(self) -> None:
        from apps.desk.selectors.dashboard import count_attention_items
        from apps.lib.web import navigation

        navigation.register_counter("desk:dashboard")(count_attention_items)
