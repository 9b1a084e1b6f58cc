"""`/metrics`, for Prometheus: with a token for reading metrics, or from a network of NETZWART_METRICS_NETWORKS."""

from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone, translation
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework import viewsets
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from apps.accounts.client_address import get_client_address
from apps.accounts.permissions import RolePermission
from apps.metrics.exposition import render_metrics


class ScraperPermission(RolePermission):
    """Allows what the roles allow, and any request from the listed networks."""

    def has_permission(self, request: Request, view: Any) -> bool:
        address = ip_address(get_client_address(request._request))
        return any(address in network for network in settings.METRICS_NETWORKS) or super().has_permission(request, view)


class MetricsViewSet(viewsets.ViewSet):
    """Metrics of gateways and portal. The Accept header is ignored."""

    permission_classes = (ScraperPermission,)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        return JSONRenderer(), JSONRenderer.media_type  # for error responses

    def list(self, _request: Request) -> HttpResponse:
        """Return all metrics as text."""
        with translation.override("en"):
            return HttpResponse(render_metrics(timezone.now()), content_type=CONTENT_TYPE_LATEST)


urlpatterns = [path("metrics", MetricsViewSet.as_view({"get": "list"}, basename="metric"), name="metric-list")]
