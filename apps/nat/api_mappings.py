"""NAT mappings in the REST API."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ActiveSerializer, Reference
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import AddressField
from apps.nat import services
from apps.nat.models import NatMapping
from apps.nat.selectors import list_mappings
from apps.network.models import Holding, Pool


class MappingSerializer(ActiveSerializer):
    member = Reference(source="holding.member", read_only=True)
    holding = Reference(queryset=Holding.objects.filter(is_valid_now()))
    private_address = serializers.CharField(source="holding.address", read_only=True)
    pool = Reference(queryset=Pool.objects.filter(kind=Pool.Kind.PUBLIC4), required=False)
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
        read_only_fields = ["sharing", "version"]
        brief = ["id", "private_address", "public_address"]

    def get_first_port(self, mapping: NatMapping) -> int | None:
        return mapping.block.lower if mapping.block else None

    def get_last_port(self, mapping: NatMapping) -> int | None:
        return mapping.block.upper - 1 if mapping.block else None

    def create(self, validated_data: Mapping[str, Any]) -> NatMapping:
        given = dict(validated_data)
        if "public" in given:
            given["public"] = AddressField().to_python(given["public"])
        return services.map_address(by=self.context["request"].user, **given)


class MappingViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """NAT mappings that hold now: the public addresses and ports as which private addresses leave."""

    queryset = list_mappings().order_by("id")
    serializer_class = MappingSerializer
    group_path = "group"
    member_path = "holding__member"
    filters = build_filters(
        NatMapping,
        "holding",
        "pool",
        "sharing",
        "version",
        member="holding__member",
        public_address="public",
        private_address="holding__prefix",
    )

    def remove(self, row: NatMapping) -> None:
        services.unmap_address(mapping=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that
