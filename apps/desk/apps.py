from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "apps.desk"

    def ready(self) -> None:
        from apps.desk.selectors.dashboard import asking
        from apps.lib.web import navigation

        navigation.counts("desk:dashboard")(asking)
