"""REST API of departures."""

from collections.abc import Mapping
from typing import Any

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.members import departures
from apps.members.models import Departure


class DepartureSerializer(ApiSerializer):
    class Meta:
        model = Departure
        fields = ["id", "member", "on", "state", "by", "planned"]
        read_only_fields = ["state", "by", "planned"]
        brief = ["id", "member", "on", "state"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Departure:
        return departures.plan_departure(by=self.context["request"].user, **validated_data)


class DepartureViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Departures: the days on which members leave or have left. DELETE cancels a planned departure."""

    serializer_class = DepartureSerializer
    member_path = "member"
    queryset = Departure.objects.order_by("id")
    filters = build_filters(Departure, "member", "on", "state", "by", "planned")

    def remove(self, row: Departure) -> None:
        departures.cancel_departure(row)
