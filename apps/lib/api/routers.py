"""Router of the API: that of REST framework, plus PATCH and DELETE of a list."""

from rest_framework.routers import DefaultRouter, Route


class Router(DefaultRouter):
    """Routes /api/<app>/<plural>/ and /api/<app>/<plural>/<id>/."""

    include_format_suffixes = False
    routes = [
        route._replace(mapping={**route.mapping, "patch": "bulk_update", "delete": "bulk_destroy"})
        if isinstance(route, Route) and route.name == "{basename}-list"
        else route
        for route in DefaultRouter.routes
    ]
