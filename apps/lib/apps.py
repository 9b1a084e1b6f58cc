from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        """Have addresses compared by their own rule, whoever asks the database."""
        from apps.lib import email_lookups  # noqa: F401 - registers a lookup
