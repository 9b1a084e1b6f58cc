"""URLs of the webhook pages, for network administrators."""

from django.urls import path

from apps.webhooks import views

app_name = "webhooks"
urlpatterns = [
    path("", views.webhooks, name="list"),
    path("add/", views.add, name="add"),
    path("<int:pk>/", views.webhook, name="webhook"),
    path("<int:pk>/edit/", views.edit, name="edit"),
    path("<int:pk>/secret/", views.secret, name="secret"),
    path("<int:pk>/remove/", views.remove, name="remove"),
    path("<int:pk>/ping/", views.ping, name="ping"),
    path("deliveries/<int:pk>/", views.delivery, name="delivery"),
    path("deliveries/<int:pk>/again/", views.resend, name="again"),
]
