"""URLs of the alarm pages."""

from django.urls import path

from apps.alarms import views

app_name = "alarms"
urlpatterns = [
    path("", views.alarms, name="list"),
    path("<int:pk>/seen/", views.mark_as_seen, name="seen"),
    path("silence/", views.silence, name="silence"),
    path("silences/<int:pk>/end/", views.end_silence, name="end-silence"),
]
