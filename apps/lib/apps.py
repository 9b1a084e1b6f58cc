from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        """Register the comparison of email addresses, and the check for invisible characters in text fields of forms."""
        from apps.lib.database import email_lookups  # noqa: F401 - registers a lookup
        from apps.lib.visible_text import patch_form_validation

        patch_form_validation()
