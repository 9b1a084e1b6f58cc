"""URLs of the alarm pages."""

from django.urls import path

from apps.alarms import views
from apps.alarms.channels import views as channels
from apps.alarms.duty import views as duty

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
    path("duty/", duty.duty, name="duty"),
    path("duty/shifts/add/", duty.add_shift, name="shift-add"),
    path("duty/shifts/<int:pk>/take/", duty.take_shift, name="shift-take"),
    path("duty/shifts/<int:pk>/remove/", duty.remove_shift, name="shift-remove"),
    path("duty/calendars/add/", duty.add_calendar, name="calendar-add"),
    path("duty/calendars/<int:pk>/", duty.edit_calendar, name="calendar"),
    path("duty/calendars/<int:pk>/remove/", duty.remove_calendar, name="calendar-remove"),
    path("duty/calendars/<int:pk>/read/", duty.read_calendar, name="calendar-read"),
    path("duty/link/", duty.renew_feed, name="duty-link"),
    path("duty/feed/<str:token>/duty.ics", duty.feed, name="duty-feed"),
    path("silences/<int:pk>/end/", views.end_silence, name="end-silence"),
]
