from django.apps import AppConfig


class PreferencesConfig(AppConfig):
    name = "apps.preferences"
