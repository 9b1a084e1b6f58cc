from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"

    def ready(self) -> None:
        from apps.lib.visible_text import validate_every_form

        validate_every_form()
