"""How private addresses leave, in the REST API."""

from collections.abc import Mapping
from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework import mixins, serializers

from apps.lib.serving import ActiveRows, ActiveSerializer, with_activations
from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat import services
from apps.nat.models import NatMapping
from apps.nat.selectors import mappings
from apps.network.api import AddressFilter
from apps.network.models import Holding, Pool


class MappingSerializer(ActiveSerializer):
    member: serializers.PrimaryKeyRelatedField[Member] = serializers.PrimaryKeyRelatedField(source="holding.member", read_only=True)
    holding = serializers.PrimaryKeyRelatedField(queryset=Holding.objects.filter(holds_now()))
    private_address = serializers.CharField(source="holding.address", read_only=True)
    pool = serializers.PrimaryKeyRelatedField(queryset=Pool.objects.filter(kind=Pool.Kind.PUBLIC4), required=False)
    public_address = serializers.IPAddressField(protocol="IPv4", source="public", required=False)
    first_port = serializers.SerializerMethodField()
    last_port = serializers.SerializerMethodField()

    class Meta:
        model = NatMapping
        fields = [
            "id",
            "member",
            "holding",
            "private_address",
            "pool",
            "public_address",
            "sharing",
            "first_port",
            "last_port",
            "active",
            "version",
        ]
        read_only_fields = ["sharing"]

    def get_first_port(self, mapping: NatMapping) -> int | None:
        return mapping.block.lower if mapping.block else None

    def get_last_port(self, mapping: NatMapping) -> int | None:
        return mapping.block.upper - 1 if mapping.block else None

    def create(self, validated_data: Mapping[str, Any]) -> NatMapping:
        return with_activations([services.map_address(by=self.context["request"].user, **validated_data)])[0]


class MappingFilter(django_filters.FilterSet):
    member = django_filters.NumberFilter(field_name="holding__member")
    public_address = AddressFilter(field_name="public")

    class Meta:
        model = NatMapping
        fields = ["holding", "pool"]


class MappingViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    ActiveRows,
):
    """How private addresses leave now; `?holding=`, `?member=`, `?pool=`, `?public_address=`."""

    serializer_class = MappingSerializer
    filterset_class = MappingFilter

    def get_queryset(self) -> QuerySet[NatMapping]:
        return mappings().order_by("id")

    def perform_destroy(self, instance: NatMapping) -> None:
        services.unmap_address(mapping=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
