"""REST API of the export files: `/api/exports/<name>`, with an ETag, so that a cron job does not fetch an unchanged file again."""

from typing import Any

from django.http import Http404, HttpResponseBase
from django.urls import path
from rest_framework import viewsets
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.desk.exports.export_files import list_files, serve_file


class ExportViewSet(viewsets.ViewSet):
    """Export files for DHCP, DNS, RADIUS and Prometheus. Each file has its own format; the Accept header is ignored."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        return JSONRenderer(), JSONRenderer.media_type  # for error responses

    def list(self, request: Request) -> Response:
        """List the export files by name."""
        return Response([{"name": each.name, "what": str(each.what)} for each in list_files()])

    def retrieve(self, request: Request, name: str) -> HttpResponseBase:
        """Download one export file. With If-None-Match, an unchanged file gives 304."""
        found = next((each for each in list_files() if each.name == name), None)
        if found is None:
            raise Http404(name)
        return serve_file(request._request, found)


urlpatterns = [
    path("exports/", ExportViewSet.as_view({"get": "list"}, basename="export"), name="export-list"),
    path("exports/<str:name>", ExportViewSet.as_view({"get": "retrieve"}, basename="export"), name="export-detail"),
]
