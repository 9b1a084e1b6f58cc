"""URLs of fair share."""

from django.urls import path

from apps.traffic.fairshare import views

app_name = "fairshare"
urlpatterns = [
    path("<int:group>/", views.edit, name="edit"),
    path("<int:group>/off/", views.switch_fair_share_off, name="off"),
]
