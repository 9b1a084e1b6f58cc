"""REST API of members' rate limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from apps.lib.api.fields import MomentField
from apps.lib.api.filter_types import TRUTH
from apps.lib.api.filters import CustomFilter, build_filters
from apps.lib.api.serializers import ActiveSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now
from apps.traffic.rates import services
from apps.traffic.rates.models import RateLimit


class RateLimitSerializer(ActiveSerializer):
    since = MomentField(source="valid.lower", read_only=True)
    until = MomentField(source="valid.upper", allow_null=True, required=False, default=None)
    author = serializers.StringRelatedField[Any]()
    released_by = serializers.StringRelatedField[Any]()

    class Meta:
        model = RateLimit
        fields = ["id", "member", "up_kbit", "down_kbit", "reason", "note", "since", "until", "author", "released_by", "active"]
        brief = ["id", "member", "up_kbit", "down_kbit"]

    def create(self, validated_data: Mapping[str, Any]) -> RateLimit:
        given = {"up_kbit": None, "down_kbit": None} | {key: value for key, value in validated_data.items() if key != "valid"}
        until = validated_data.get("valid", {}).get("upper")
        return services.limit_member(until=until, by=self.context["request"].user, **given)


class RateLimitViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Rate limits of members that hold now; with `all`, also those that are over."""

    serializer_class = RateLimitSerializer
    member_path = "member"
    filters = build_filters(
        RateLimit, "member", "up_kbit", "down_kbit", "reason", "author", since="valid__startswith", until="valid__endswith"
    ) | {"all": CustomFilter(TRUTH, None, "also those that are over")}

    def get_queryset(self) -> QuerySet[RateLimit]:
        rows = RateLimit.objects.select_related("author", "released_by").order_by("id")
        return rows if self.request.query_params.get("all") in ("1", "true") else rows.filter(is_valid_now())

    def remove(self, row: RateLimit) -> None:
        self.remove_many([row])

    def remove_many(self, rows: Sequence[RateLimit]) -> None:
        services.release_rate_limits(limits=[row.pk for row in rows], by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checked it
