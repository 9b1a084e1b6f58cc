"""Floor of the API: REST framework's own ModelViewSet over the same table, without rights, history pages or activation.

It is what a project has that uses the framework as its tutorial shows. It counts all rows for each page, and writes one row a request.
"""

from typing import Any

APPLICATION = "benchmarks.plain_viewset:build_application()"
PLAIN = "a plain ModelViewSet"
PATH = "/forwards/"


def build_application() -> Any:
    """Return a WSGI application with the view set only, without middleware."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler

    django.setup(set_prefix=False)
    settings.MIDDLEWARE, settings.ROOT_URLCONF = [], type("Urls", (), {"urlpatterns": _build_urls()})
    return WSGIHandler()


def _build_urls() -> list[Any]:
    from rest_framework.routers import SimpleRouter

    router = SimpleRouter()
    router.register(PATH.strip("/"), _build_viewset())
    return router.urls


def _build_viewset() -> type[Any]:
    from rest_framework.negotiation import DefaultContentNegotiation
    from rest_framework.pagination import LimitOffsetPagination
    from rest_framework.serializers import IPAddressField, ModelSerializer
    from rest_framework.viewsets import ModelViewSet

    from apps.lib.database.validity import is_valid_now, make_range_from_now
    from apps.nat.models import PortForward
    from apps.network.models import Pool

    class PlainSerializer(ModelSerializer[PortForward]):
        public = IPAddressField()

        class Meta:
            model = PortForward
            fields = ["id", "holding", "protocol", "public", "public_port", "private_port", "ports", "purpose", "enabled", "version"]

    class PlainViewSet(ModelViewSet[PortForward]):
        authentication_classes = permission_classes = throttle_classes = filter_backends = ()
        content_negotiation_class = DefaultContentNegotiation
        pagination_class = LimitOffsetPagination
        serializer_class = PlainSerializer
        queryset = PortForward.objects.filter(is_valid_now()).order_by("id")

        def perform_create(self, serializer: Any) -> None:
            holding, pool = serializer.validated_data["holding"], Pool.objects.get(kind=Pool.Kind.PUBLIC4)
            own = {"group_id": holding.group_id, "held": holding.valid, "pool": pool, "pool_prefix": pool.prefix}
            serializer.save(**own, valid=make_range_from_now())

    return PlainViewSet
