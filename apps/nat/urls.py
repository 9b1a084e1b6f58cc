"""URLs of port forwards and IPv6 pinholes: lists of all members', and the panels of one member."""

from django.urls import path

from apps.nat import list_views, views
from apps.nat.pinholes import views as pinholes
from apps.nat.rules import views as rules

app_name = "nat"
urlpatterns = [
    path("forwards/", list_views.forwards, name="forwards"),
    path("forwards.csv", list_views.forwards_csv, name="forwards-csv"),
    path("forwards/rules/<int:group>/", rules.rules, name="rules"),
    path("pinholes/", list_views.pinholes, name="pinholes"),
    path("pinholes.csv", list_views.pinholes_csv, name="pinholes-csv"),
    path("members/<int:pk>/forwards/", views.forwards, name="forwards-of"),
    path("members/<int:pk>/forwards/add/", views.add, name="forward-add"),
    path("forwards/<int:pk>/edit/", views.edit, name="forward-edit"),
    path("forwards/<int:pk>/switch/", views.switch, name="forward-switch"),
    path("forwards/<int:pk>/remove/", views.remove, name="forward-remove"),
    path("forwards/<int:pk>/restore/", views.restore, name="forward-restore"),
    path("members/<int:pk>/pinholes/", pinholes.pinholes_panel, name="pinholes-of"),
    path("members/<int:pk>/pinholes/add/", pinholes.add, name="pinhole-add"),
    path("pinholes/<int:pk>/edit/", pinholes.edit, name="pinhole-edit"),
    path("pinholes/<int:pk>/switch/", pinholes.switch, name="pinhole-switch"),
    path("pinholes/<int:pk>/remove/", pinholes.remove, name="pinhole-remove"),
    path("pinholes/<int:pk>/restore/", pinholes.restore, name="pinhole-restore"),
    path("holdings/<int:pk>/renumber/", pinholes.renumber_prefix, name="renumber"),
]
