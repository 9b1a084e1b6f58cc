"""URLs of traffic for staff: gateways, members, sums and quotas."""

from django.urls import path

from apps.traffic import member_traffic_views, views

app_name = "traffic"
urlpatterns = [
    path("traffic/", views.overview, name="overview"),
    path("traffic/throughput.csv", views.throughput_csv, name="throughput-csv"),
    path("traffic/talkers/", views.talkers, name="talkers"),
    path("traffic/talkers.csv", views.talkers_csv, name="talkers-csv"),
    path("traffic/sums/", views.sums, name="sums"),
    path("traffic/sums.csv", views.sums_csv, name="sums-csv"),
    path("traffic/quotas/", views.quota_usage, name="quotas"),
    path("traffic/quotas.csv", views.quota_usage_csv, name="quotas-csv"),
    path("traffic/quotas/<int:pk>/", views.quota, name="quota"),
    path("members/<int:pk>/traffic/", member_traffic_views.traffic, name="of"),
    path("members/<int:pk>/traffic.csv", member_traffic_views.traffic_csv, name="of-csv"),
    path("members/<int:pk>/months.csv", member_traffic_views.months_csv, name="of-months-csv"),
]
