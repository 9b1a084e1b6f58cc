"""URLs of the history: pages that combine several apps, in the navigation's audit section."""

from django.urls import path

from apps.desk.views import addresses, history

app_name = "audit"
urlpatterns = [
    path("history/", history.history, name="history"),
    path("history/enquiries/", addresses.enquiries, name="enquiries"),
]
