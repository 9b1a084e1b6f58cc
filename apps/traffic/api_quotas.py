"""REST API of tariffs' quotas."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F
from rest_framework import serializers

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.members.models import Tariff
from apps.traffic.models import Quota
from apps.traffic.quotas import MAX_QUOTA_OCTETS, set_tariff_quota


class QuotaSerializer(ApiSerializer):
    fixed_fields = frozenset({"tariff"})
    id = serializers.IntegerField(source="tariff_id", read_only=True)
    octets = serializers.IntegerField(min_value=1, max_value=MAX_QUOTA_OCTETS)

    class Meta:
        model = Quota
        fields = ["id", "tariff", "octets"]
        brief = ["id", "octets"]

    def create(self, validated_data: Mapping[str, Any]) -> Quota:
        return self._set(validated_data["tariff"], validated_data["octets"])

    def update(self, instance: Quota, validated_data: Mapping[str, Any]) -> Quota:
        return self._set(instance.tariff, validated_data.get("octets", instance.octets))

    def _set(self, tariff: Tariff, octets: int) -> Quota:
        set_tariff_quota(tariff=tariff, octets=octets, by=self.context["request"].user)
        return Quota.objects.get(tariff=tariff)


class QuotaViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Quotas of tariffs, by the tariff's id: octets that a member should not exceed in a calendar month, up and down together."""

    serializer_class = QuotaSerializer
    queryset = Quota.objects.annotate(id=F("tariff_id")).order_by("pk")
    filters = build_filters(Quota, "octets")

    def remove(self, row: Quota) -> None:
        set_tariff_quota(tariff=row.tariff, octets=None, by=self.request.user)  # type: ignore[arg-type]  # a signed-in user is a User
