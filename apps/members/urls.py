"""Tariffs."""

from django.urls import path

from apps.members import views

app_name = "members"
urlpatterns = [
    path("tariffs/", views.tariffs, name="tariffs"),
    path("tariffs/add/", views.add, name="tariff-add"),
    path("tariffs/<int:pk>/", views.change, name="tariff"),
]
