from django.apps import AppConfig


class MailConfig(AppConfig):
    name = "apps.mail"

    def ready(self) -> None:
        from apps.lib.web import navigation
        from apps.mail.selectors import build_navigation_count

        navigation.register_counter("mail:outbox")(build_navigation_count)
