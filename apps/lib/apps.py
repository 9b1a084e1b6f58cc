from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        """Register the comparison of email addresses, the check for invisible characters in text fields of forms, and the log's form.

        Also what follows each `migrate`.
        """
        from django.conf import settings
        from django.db.models.signals import post_migrate

        from apps.lib.database import email_lookups  # noqa: F401 - registers a lookup
        from apps.lib.database.trigger_functions import install_trigger_functions
        from apps.lib.log_context import configure_structlog
        from apps.lib.visible_text import patch_form_validation

        post_migrate.connect(install_trigger_functions, sender=self)
        patch_form_validation()
        configure_structlog(as_json=settings.LOGS_AS_JSON)
