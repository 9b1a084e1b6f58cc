"""URLs of the outbox, and of the page that switches notices off."""

from django.urls import path

from apps.mail import views

app_name = "mail"
urlpatterns = [
    path("", views.outbox, name="outbox"),
    path("<int:pk>/", views.message, name="message"),
    path("<int:pk>/again/", views.retry, name="again"),
    path("<int:pk>/discard/", views.discard, name="discard"),
    path("off/<str:token>/", views.switch_off, name="switch-off"),
]
