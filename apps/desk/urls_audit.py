"""History: a page across apps that the navigation knows as the audit's."""

from django.urls import path

from apps.desk.views import addresses, history

app_name = "audit"
urlpatterns = [
    path("history/", history.history, name="history"),
    path("history/enquiries/", addresses.enquiries, name="enquiries"),
]
