"""The check in the REST API, as an action of members."""

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.desk.connection_check.report import report
from apps.lib.api.openapi.json_schema import TEXT, TIME, array, record
from apps.lib.api.openapi.operations import answers
from apps.members import api

FINDING = record(name=TEXT, state=TEXT, title=TEXT, words=TEXT, fault=TEXT)
CHECK = record(at=TIME, fault=TEXT, verdict=TEXT, findings=array(FINDING))


class MemberViewSet(api.MemberViewSet):
    """Members; `search` looks in name, number, room, address and MAC."""

    @answers(200, CHECK)
    @action(detail=True)
    def check(self, request: Request, pk: str = "") -> Response:
        """Is it this connection or the network? What is known of it: `fault` is `none`, `connection`, `network` or `limit`."""
        return Response(report(self.get_object(), timezone.now(), own=False).as_data())
