"""Members' own pages."""

from django.urls import path

from apps.desk.own import views

app_name = "own"
urlpatterns = [
    path("", views.home, name="home"),
    path("traffic.csv", views.traffic_csv, name="traffic-csv"),
    path("ports/open/", views.open_port, name="port-open"),
    path("ports/<int:pk>/switch/", views.switch, name="port-switch"),
    path("ports/<int:pk>/close/", views.close_port, name="port-close"),
    path("ports/<int:pk>/reopen/", views.reopen_port, name="port-reopen"),
]
