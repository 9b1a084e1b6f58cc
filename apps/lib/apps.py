from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        """Register the comparison of email addresses, the check for invisible characters in text fields of forms, and the log's form."""
        from django.conf import settings

        from apps.lib.database import email_lookups  # noqa: F401 - registers a lookup
        from apps.lib.log_context import configure_structlog
        from apps.lib.visible_text import patch_form_validation

        patch_form_validation()
        configure_structlog(as_json=settings.LOGS_AS_JSON)
