"""URLs of staff's pages of announcements."""

from django.urls import path

from apps.announcements import views

app_name = "announcements"
urlpatterns = [
    path("", views.announcements, name="list"),
    path("add/", views.add, name="add"),
    path("<int:pk>/", views.announcement, name="announcement"),
    path("<int:pk>/edit/", views.edit, name="edit"),
    path("<int:pk>/remove/", views.remove, name="remove"),
    path("<int:pk>/publish/", views.publish, name="publish"),
    path("<int:pk>/withdraw/", views.withdraw, name="withdraw"),
]
