"""REST API of imports of people: a table as CSV text comes in, a dry run or an import with its progress and its report goes out."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.desk.people_import import background
from apps.desk.people_import.table_limits import MOST_BODY
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, Shape, make_array, make_mapping, make_nullable, make_object
from apps.lib.api.parsers import LargeJsonParser
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet, refuse_limited_token
from apps.lib.errors import Problem
from apps.members.models import PeopleUpload

PERSON: Final = make_object(line=INTEGER, number=make_nullable(INTEGER), name=TEXT, changes=make_array(make_array(TEXT)))
REPORT: Final = make_object(
    counts=make_mapping(INTEGER),
    line_count=INTEGER,
    problem_count=INTEGER,
    problems=make_array(make_object(line=INTEGER, column=TEXT, text=TEXT)),
    added=make_array(PERSON),
    changed=make_array(PERSON),
    sites=make_array(TEXT),
    rooms=make_array(TEXT),
    skipped=make_array(TEXT),
)
FIELDS: Final = {"file": "table", "column": "columns"}
"""Fields of the request by those of a Problem."""


class TableText(serializers.Field[bytes, Any, Any, Any]):
    """A table as CSV text. Its cells are checked line by line, not as one text of the request."""

    def to_internal_value(self, data: Any) -> bytes:
        if not isinstance(data, str):
            raise serializers.ValidationError(_("Write the table as text, in CSV."))
        return data.encode()


class PeopleImportSerializer(ApiSerializer):
    shapes: ClassVar[Mapping[str, Shape]] = {
        "table": TEXT,
        "columns": make_array(TEXT),
        "meanings": make_array(TEXT),
        "report": make_nullable(REPORT),
    }
    table = TableText(write_only=True)
    name = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    columns = serializers.ListField(child=serializers.CharField(max_length=4_100), max_length=100, required=False, write_only=True)
    dry_run = serializers.BooleanField(source="is_dry_run", required=False, default=True)

    class Meta:
        model = PeopleUpload
        found = ["state", "meanings", "lines", "done", "of", "problem", "report", "created"]
        fields = ["id", "name", "table", "columns", "create_rooms", "dry_run", *found]
        read_only_fields = found
        brief = ["id", "name", "dry_run", "state"]
        validators: ClassVar[list[Any]] = []

    def create(self, validated_data: Mapping[str, Any]) -> PeopleUpload:
        given = dict(validated_data)
        try:
            return background.begin_check_or_import(
                name=given["name"],
                content=given["table"],
                choices=given.get("columns", ()),
                create_rooms=given.get("create_rooms", False),
                dry_run=given["is_dry_run"],
                by=self.context["request"].user,
            )
        except Problem as problem:
            raise type(problem)(str(problem), FIELDS.get(problem.fieldname or "", problem.fieldname)) from problem


class PeopleImportViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """The caller's own imports of members, kept for a day. POST checks or imports a table; DELETE cancels it, and forgets it."""

    serializer_class = PeopleImportSerializer
    filters = build_filters(PeopleUpload, "name", "state", "lines", "created")
    parser_classes = (LargeJsonParser,)
    largest_body = MOST_BODY

    def get_queryset(self) -> QuerySet[PeopleUpload]:
        return PeopleUpload.objects.filter(by=self.request.user.pk).defer("content").order_by("id")

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        refuse_limited_token(request)
        return super().create(request, *args, **kwargs)

    def remove(self, row: PeopleUpload) -> None:
        row.delete()  # a worker finds its claim gone, and rolls back
