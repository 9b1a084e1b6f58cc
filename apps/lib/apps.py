from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        """Have addresses compared by their own rule, whoever asks the database, and text fields of forms refuse what cannot be seen."""
        from apps.lib.database import email_lookups  # noqa: F401 - registers a lookup
        from apps.lib.visible_text import validate_every_form

        validate_every_form()
