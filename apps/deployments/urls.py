"""Rollouts."""

from django.urls import path

from apps.deployments import views

app_name = "deployments"
urlpatterns = [
    path("", views.rollouts, name="rollouts"),
    path("deploy/", views.deploy, name="deploy"),
    path("<int:pk>/", views.rollout, name="rollout"),
    path("<int:pk>/now/", views.rollout_now, name="rollout_now"),
    path("<int:pk>/again/", views.again, name="again"),
    path("<int:pk>/delta/", views.delta, name="delta"),
]
