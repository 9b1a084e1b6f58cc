from django.apps import AppConfig


class LibConfig(AppConfig):
    name = "apps.lib"
