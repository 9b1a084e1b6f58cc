"""URL of the health report for outside monitors."""

from django.urls import path

from apps.operations import health

app_name = "operations"
urlpatterns = [path("health", health.health, name="health")]
