"""Read-only REST API of usage: octets by member and by holding in a window of time."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Model, QuerySet
from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TIME, TRUTH, Shape, make_array, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer, Reference
from apps.lib.api.viewsets import ReadViewSet
from apps.members.models import Member
from apps.network.models import Holding
from apps.traffic.query_window import IN_WINDOW, WORDS, WORDS_OF_SPAN, parse_window
from apps.traffic.selectors import (
    OctetsByDirection,
    UsagePoint,
    build_holding_series,
    build_member_series,
    sum_usage_by_holding,
    sum_usage_by_member,
)
from apps.traffic.windows import TimeWindow

OCTETS: Shape = make_object(**dict.fromkeys(OctetsByDirection._fields, INTEGER))
SPAN: Shape = make_object(since=TIME, until=TIME)
POINTS: Shape = make_array(make_object(start=TIME, octets=make_nullable(OCTETS), lost=TRUTH))
SERIES: Shape = make_object(since=TIME, until=TIME, unit_seconds=INTEGER, points=POINTS)


class UsedSerializer(ApiSerializer):
    """A row with its usage in the requested window, in octets of IP packets."""

    shapes = {"window": SPAN, "octets": OCTETS}
    window = serializers.SerializerMethodField()
    octets = serializers.SerializerMethodField()

    def get_window(self, row: Model) -> dict[str, datetime]:
        """Start and end of the window."""
        window: TimeWindow = self.context["window"]
        return {"since": window.since, "until": window.until}

    def get_octets(self, row: Model) -> dict[str, int]:
        """Octets up and down, by IPv4 and IPv6."""
        octets: OctetsByDirection = getattr(row, "known_octets", OctetsByDirection())
        return octets._asdict()


class UsageViewSet(ReadViewSet):
    """Rows with their usage in a window of time."""

    series: Callable[..., list[UsagePoint]]
    used: Callable[..., Mapping[int, OctetsByDirection]]

    @cached_property
    def now(self) -> datetime:
        """Time of the request: the same for a whole response, because DRF makes a view for each request."""
        return timezone.now()

    @cached_property
    def window(self) -> TimeWindow:
        """Requested window."""
        return parse_window(self.request.query_params.dict(), self.now)

    def get_serializer_context(self) -> dict[str, Any]:
        known = {"window": self.window} if self._is_read() else {}
        return super().get_serializer_context() | known

    def prepare_rows(self, rows: Iterable[Any]) -> list[Any]:
        shown, window = list(rows), self.window
        used = type(self).used([row.pk for row in shown], window.since, window.until, now=self.now) if self.shows("octets") else {}
        for row in shown:
            row.known_octets = used.get(row.pk, OctetsByDirection())
        return shown

    @declare_response(200, SERIES, **WORDS)
    @action(detail=True, url_path="series", url_name="series")
    def over_time(self, request: Request, pk: str = "") -> Response:
        """Usage over time, one point for each bucket. `octets` is null where no gateway was read; `lost` is true where part of the
        traffic was never read.
        """
        row, window = self.get_object(), self.window
        points = type(self).series(row, window.since, window.until, window.unit, now=self.now)
        facts = {"since": window.since, "until": window.until, "unit_seconds": int(window.unit.total_seconds())}
        return Response(facts | {"points": [_render_point(point) for point in points]})


def _render_point(point: UsagePoint) -> dict[str, Any]:
    return {"start": point.start, "octets": point.octets and point.octets._asdict(), "lost": point.lost}


class MembersUsageSerializer(UsedSerializer):
    class Meta:
        model = Member
        fields = ["id", "number", "name", "window", "octets"]
        brief = ["id", "octets"]


class MembersUsageViewSet(UsageViewSet):
    """Usage of members in a window of time, by the member's id."""

    serializer_class = MembersUsageSerializer
    member_path = "pk"
    filters = build_filters(Member, "number", "name", "state", "tariff", "room", site="room__site") | IN_WINDOW
    series, used = staticmethod(build_member_series), staticmethod(sum_usage_by_member)

    def get_queryset(self) -> QuerySet[Member]:
        return Member.objects.order_by("id")

    @declare_response(200, MembersUsageSerializer, **WORDS_OF_SPAN)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().retrieve(request, *args, **kwargs)


class AddressesUsageSerializer(UsedSerializer):
    member = Reference(read_only=True)
    address = serializers.CharField(read_only=True)
    since = MomentField(source="valid.lower", read_only=True)
    until = MomentField(source="valid.upper", read_only=True, allow_null=True)

    class Meta:
        model = Holding
        fields = ["id", "member", "address", "since", "until", "window", "octets"]
        brief = ["id", "octets"]


class AddressesUsageViewSet(UsageViewSet):
    """Usage of the addresses and prefixes that members hold or held, in a window of time, by the holding's id."""

    serializer_class = AddressesUsageSerializer
    member_path = "member"
    filters = build_filters(Holding, "member", "kind", "pool") | IN_WINDOW
    series, used = staticmethod(build_holding_series), staticmethod(sum_usage_by_holding)

    def get_queryset(self) -> QuerySet[Holding]:
        return Holding.objects.order_by("id")

    @declare_response(200, AddressesUsageSerializer, **WORDS_OF_SPAN)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().retrieve(request, *args, **kwargs)
