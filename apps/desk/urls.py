"""Pages that look across apps."""

from django.urls import path

from apps.desk import views

app_name = "desk"
urlpatterns = [
    path("", views.dashboard, name="dashboard"),
]
