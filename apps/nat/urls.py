"""The panel of a member's port forwards."""

from django.urls import path

from apps.nat import views

app_name = "nat"
urlpatterns = [
    path("members/<int:pk>/forwards/", views.forwards, name="forwards-of"),
    path("members/<int:pk>/forwards/add/", views.add, name="forward-add"),
    path("forwards/<int:pk>/switch/", views.switch, name="forward-switch"),
    path("forwards/<int:pk>/remove/", views.remove, name="forward-remove"),
    path("forwards/<int:pk>/restore/", views.restore, name="forward-restore"),
]
