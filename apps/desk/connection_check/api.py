"""The check in the REST API, as an action of members."""

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


class CheckedMemberViewSet(api.MemberViewSet):
    """Members; `search` looks in name, number, room, address and MAC."""

    @declare_response(200, CHECK)
    @action(detail=True)
    def check(self, request: Request, pk: str = "") -> Response:
        """Is it this connection or the network? What is known of it: `fault` is `none`, `connection`, `network` or `limit`."""
        return Response(build_report(self.get_object(), timezone.now(), own=False).as_data())
