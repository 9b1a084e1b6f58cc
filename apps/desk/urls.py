"""Pages that look across apps."""

from django.urls import path

from apps.desk.views import dashboard, member

app_name = "desk"
urlpatterns = [
    path("", dashboard.dashboard, name="dashboard"),
    path("members/<int:pk>/", member.member, name="member"),
]
