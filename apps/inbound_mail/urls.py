"""URLs of incoming mail, for staff."""

from django.urls import path

from apps.inbound_mail import views

app_name = "inbound"
urlpatterns = [
    path("", views.arrivals, name="arrivals"),
    path("<int:pk>/", views.arrival, name="arrival"),
    path("<int:pk>/mail.eml", views.file, name="file"),
    path("<int:pk>/again/", views.retry, name="again"),
    path("<int:pk>/delete/", views.delete, name="delete"),
]
