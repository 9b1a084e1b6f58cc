"""Addresses of pages and API."""

from django.urls import URLPattern, URLResolver, include, path

from portal.api import router

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include((router.urls, "api"))),
]
