"""URLs of the health reports for outside monitors."""

from django.urls import path

from apps.operations import health

app_name = "operations"
urlpatterns = [
    path("health", health.health, name="health"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
