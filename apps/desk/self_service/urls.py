"""URLs of members' own pages."""

from django.urls import path

from apps.desk.self_service import (
    views,
    views_announcements,
    views_check,
    views_devices,
    views_join,
    views_pinholes,
    views_settings,
    views_tickets,
)

app_name = "own"
urlpatterns = [
    path("", views.home, name="home"),
    path("traffic.csv", views.traffic_csv, name="traffic-csv"),
    path("months.csv", views.months_csv, name="months-csv"),
    path("everything.zip", views.download_everything, name="everything"),
    path("check/", views_check.check, name="check"),
    path("check/ticket/", views_check.open_check_ticket, name="check-ticket"),
    path("join/<str:token>/", views_join.join, name="join"),
    path("settings/", views_settings.settings, name="settings"),
    path("announcements/", views_announcements.announcements, name="announcements"),
    path("announcements/<int:pk>/seen/", views_announcements.mark_seen, name="announcement-seen"),
    path("devices/", views_devices.devices, name="devices"),
    path("devices/<int:pk>/", views_devices.change, name="device"),
    path("devices/<int:pk>/remove/", views_devices.remove, name="device-remove"),
    path("pinholes/", views_pinholes.pinholes, name="pinholes"),
    path("pinholes/<int:pk>/switch/", views_pinholes.switch, name="pinhole-switch"),
    path("pinholes/<int:pk>/close/", views_pinholes.close, name="pinhole-close"),
    path("pinholes/<int:pk>/reopen/", views_pinholes.reopen, name="pinhole-reopen"),
    path("tickets/", views_tickets.tickets, name="tickets"),
    path("tickets/new/", views_tickets.open_ticket, name="ticket-new"),
    path("tickets/<int:pk>/", views_tickets.ticket, name="ticket"),
    path("tickets/attachments/<int:pk>/", views_tickets.attachment, name="ticket-attachment"),
    path("ports/open/", views.open_port, name="port-open"),
    path("ports/<int:pk>/switch/", views.switch_port, name="port-switch"),
    path("ports/<int:pk>/close/", views.close_port, name="port-close"),
    path("ports/<int:pk>/reopen/", views.reopen_port, name="port-reopen"),
]
