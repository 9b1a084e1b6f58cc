"""Configuration of this app. It has no tables: it shows what the others have."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "apps.metrics"
