"""REST API of the connection check, as an action of members."""

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.desk.connection_check.report import build_report
from apps.lib.api.openapi.json_schema import TEXT, TIME, make_array, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.members import api

FINDING = make_object(name=TEXT, state=TEXT, title=TEXT, words=TEXT, fault=TEXT)
CHECK = make_object(at=TIME, fault=TEXT, verdict=TEXT, findings=make_array(FINDING))


class MemberWithCheckViewSet(api.MemberViewSet):
    """Members. `search` looks in the name, number, room, address and MAC address."""

    @declare_response(200, CHECK)
    @action(detail=True)
    def check(self, request: Request, pk: str = "") -> Response:
        """Check the member's connection. `fault` says where a fault is: `none`, `connection`, `network` or `limit`."""
        return Response(build_report(self.get_object(), timezone.now(), own=False).to_dict())
