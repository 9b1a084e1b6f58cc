"""Rate limits of members in the REST API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import mixins, serializers

from apps.lib.serving import ActiveRows, ActiveSerializer, with_activations
from apps.lib.validity import holds_now
from apps.traffic.rates import services
from apps.traffic.rates.models import RateLimit


class RateLimitSerializer(ActiveSerializer):
    since = serializers.DateTimeField(source="valid.lower", read_only=True)
    until = serializers.DateTimeField(source="valid.upper", allow_null=True, required=False, default=None)
    author = serializers.StringRelatedField[Any]()
    released_by = serializers.StringRelatedField[Any]()

    class Meta:
        model = RateLimit
        fields = ["id", "member", "up_kbit", "down_kbit", "reason", "note", "since", "until", "author", "released_by", "active"]

    def create(self, validated_data: Mapping[str, Any]) -> RateLimit:
        given = {"up_kbit": None, "down_kbit": None} | {key: value for key, value in validated_data.items() if key != "valid"}
        until = validated_data.get("valid", {}).get("upper")
        return with_activations([services.limit(until=until, by=self.context["request"].user, **given)])[0]


class RateLimitViewSet(ActiveRows, mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.CreateModelMixin, mixins.DestroyModelMixin):
    """Rate limits; those that hold now, or with `?all=1` all; `?member=`, `?reason=`."""

    serializer_class = RateLimitSerializer
    filterset_fields = ["member", "reason"]

    def get_queryset(self) -> QuerySet[RateLimit]:
        rows = RateLimit.objects.select_related("author", "released_by").order_by("id")
        return rows if self.request.query_params.get("all") == "1" else rows.filter(holds_now())

    def perform_destroy(self, instance: RateLimit) -> None:
        services.release(limits=[instance.pk], by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
