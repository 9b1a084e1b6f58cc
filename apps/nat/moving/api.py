"""Moves in the REST API."""

from collections.abc import Mapping
from typing import Any

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.nat.moving import services
from apps.nat.moving.models import Move


class MoveSerializer(ApiSerializer):
    class Meta:
        model = Move
        fields = ["id", "member", "on", "room", "pool", "follow", "state", "problem", "by", "planned"]
        read_only_fields = ["state", "problem", "by", "planned"]
        brief = ["id", "member", "on", "state"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Move:
        given = {"room": None, "pool": None, "follow": True} | dict(validated_data)
        return services.plan_or_carry_out_move(by=self.context["request"].user, **given)


class MoveViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Moves, planned and done. A move of today is carried out at once, or refused. DELETE drops a planned move."""

    serializer_class = MoveSerializer
    member_path = "member"
    queryset = Move.objects.order_by("id")
    filters = build_filters(Move, "member", "on", "room", "pool", "state", "by", "planned")

    def remove(self, row: Move) -> None:
        services.cancel_move(row)
