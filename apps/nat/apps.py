from django.apps import AppConfig


class NatConfig(AppConfig):
    name = "apps.nat"
