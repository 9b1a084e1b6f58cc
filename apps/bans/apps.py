from django.apps import AppConfig


class BansConfig(AppConfig):
    name = "apps.bans"
