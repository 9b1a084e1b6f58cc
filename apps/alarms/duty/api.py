"""REST API of the rota: the same services as the pages. A calendar's address can be written, never read."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.alarms.duty import calendar_services, services
from apps.alarms.duty.calendar_services import CalendarFacts
from apps.alarms.duty.calendar_texts import explain_error
from apps.alarms.duty.models import DutyCalendar, DutyShift
from apps.alarms.duty.selectors import list_candidates
from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, Shape, make_array, make_nullable, make_object
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet


class ShiftSerializer(ApiSerializer):
    person = serializers.PrimaryKeyRelatedField(queryset=list_candidates())
    begins = MomentField()
    ends = MomentField()

    class Meta:
        model = DutyShift
        fields = ["id", "person", "begins", "ends", "calendar", "by"]
        read_only_fields = ["calendar", "by"]
        brief = ["id", "person", "begins", "ends"]

    def create(self, validated_data: Mapping[str, Any]) -> DutyShift:
        return services.add_shift(**validated_data, by=self.context["request"].user)


class ShiftViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Shifts of the duty rota. Of those that overlap, one that a person entered counts before one of a calendar."""

    serializer_class = ShiftSerializer
    queryset = DutyShift.objects.order_by("id")
    filters = build_filters(DutyShift, "person", "begins", "ends", "calendar", "by")

    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str = "") -> Response:
        """Be on duty instead, wherever this shift still counts; returns your first shift. 409 if somebody else has taken it over."""
        mine = services.take_over(shift=self.get_object(), by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        return self.respond_with(mine[0])

    def remove(self, row: DutyShift) -> None:
        services.remove_shift(shift=row, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User


UNMATCHED: Final = make_object(summary=TEXT, begins=make_nullable(TIME), times=INTEGER, reason=TEXT, names=make_array(TEXT))
"""Schema of an event that is nobody's shift. begins: its first time; times: how often it occurs in the coming months."""


class CalendarSerializer(ApiSerializer):
    shapes: ClassVar[Mapping[str, Shape]] = {"unmatched": make_array(UNMATCHED)}
    observed_fields = frozenset({"shown", "tried", "read", "error", "error_since", "unmatched"})
    name = serializers.CharField(max_length=80)
    address = serializers.CharField(max_length=1000, write_only=True, required=False)
    active = serializers.BooleanField(required=False, default=True)
    error = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = DutyCalendar
        fields = ["id", "name", "address", "shown", "active", "tried", "read", "error", "error_since", "unmatched", "version"]
        read_only_fields = ["shown", "tried", "read", "error_since", "unmatched"]
        brief = ["id", "name"]
        validators: list[Any] = []  # the service validates

    def get_error(self, row: DutyCalendar) -> str:
        return explain_error(row)

    def create(self, validated_data: Mapping[str, Any]) -> DutyCalendar:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        made = calendar_services.add_calendar(facts=CalendarFacts(**given), by=self.context["request"].user)
        made.refresh_from_db()
        return made

    def update(self, instance: DutyCalendar, validated_data: Mapping[str, Any]) -> DutyCalendar:
        given = {"name": instance.name, "active": instance.active, **validated_data}
        version = given.pop("version", instance.version)
        return calendar_services.change_calendar(
            calendar=instance, version=version, facts=CalendarFacts(**given), by=self.context["request"].user
        )


class CalendarViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Calendars that shifts come from. `address` is written, never read; `unmatched` is what is nobody's shift, each with the reason."""

    serializer_class = CalendarSerializer
    filters = build_filters(DutyCalendar, "name", "active", "read", "error_since")

    def get_queryset(self) -> QuerySet[DutyCalendar]:
        return DutyCalendar.objects.defer("content").order_by("id")

    @action(detail=True, methods=["post"])
    def refresh(self, request: Request, pk: str = "") -> Response:
        """Have it read now. `read` and `error` say soon after how that went."""
        row = self.get_object()
        calendar_services.request_reading(calendar=row, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        return self.respond_with(row)

    def remove(self, row: DutyCalendar) -> None:
        calendar_services.remove_calendar(calendar=row, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
