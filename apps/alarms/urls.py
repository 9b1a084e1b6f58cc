"""URLs of the alarm pages."""

from django.urls import path

from apps.alarms import views
from apps.alarms.channels import views as channels

app_name = "alarms"
urlpatterns = [
    path("", views.alarms, name="list"),
    path("<int:pk>/seen/", views.mark_as_seen, name="seen"),
    path("silence/", views.silence, name="silence"),
    path("channels/", channels.channels, name="channels"),
    path("channels/add/", channels.add, name="channel-add"),
    path("channels/<int:pk>/", channels.edit, name="channel"),
    path("channels/<int:pk>/remove/", channels.remove, name="channel-remove"),
    path("channels/<int:pk>/test/", channels.test, name="channel-test"),
    path("silences/<int:pk>/end/", views.end_silence, name="end-silence"),
]
