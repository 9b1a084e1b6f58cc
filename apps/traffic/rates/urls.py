"""URLs of rate limits and uplinks."""

from django.urls import path

from apps.traffic.rates import views

app_name = "rates"
urlpatterns = [
    path("", views.limits, name="list"),
    path("member/<int:pk>/", views.limit, name="limit"),
    path("<int:pk>/release/", views.release, name="release"),
    path("uplink/<int:group>/", views.uplink, name="uplink"),
    path("uplink/<int:group>/switch/", views.switch, name="switch"),
]
