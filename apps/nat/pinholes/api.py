"""IPv6 pinholes in the REST API."""

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_network
from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework import mixins, serializers

from apps.lib.serving import ActiveRows, ActiveSerializer, with_activations
from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat.pinholes import services
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import pinholes
from apps.network.models import Holding


class PinholeSerializer(ActiveSerializer):
    """`port` and `ports` are null where all ports are open."""

    holding = serializers.PrimaryKeyRelatedField(queryset=Holding.objects.filter(holds_now()))
    member: serializers.PrimaryKeyRelatedField[Member] = serializers.PrimaryKeyRelatedField(source="holding.member", read_only=True)
    address = serializers.IPAddressField(protocol="IPv6")
    port = serializers.IntegerField(min_value=1, max_value=65535, allow_null=True, default=None)
    ports = serializers.IntegerField(min_value=1, max_value=Pinhole.MOST_PORTS, allow_null=True, default=1)
    until = serializers.DateTimeField(allow_null=True, default=None, write_only=True)

    class Meta:
        model = Pinhole
        fields = ["id", "member", "holding", "address", "protocol", "port", "ports", "purpose", "until", "enabled", "active", "version"]
        read_only_fields = ["enabled"]

    def to_representation(self, instance: Pinhole) -> dict[str, Any]:
        every = {} if instance.port else {"port": None, "ports": None}
        return super().to_representation(instance) | every | {"until": instance.valid.upper}

    def create(self, validated_data: Mapping[str, Any]) -> Pinhole:
        given = dict(validated_data)
        given["address"] = IPv6Address(given["address"])
        given["port"], given["ports"] = given["port"] or 0, given["ports"] or 1
        return with_activations([services.add_pinhole(by=self.context["request"].user, **given)])[0]


class PinholeFilter(django_filters.FilterSet):
    address = django_filters.CharFilter(method="inside", label="of this address, or in this prefix")
    member = django_filters.NumberFilter(field_name="holding__member", label="whose")

    class Meta:
        model = Pinhole
        fields = ["holding", "protocol"]

    def inside(self, found: QuerySet[Pinhole], _name: str, text: str) -> QuerySet[Pinhole]:
        try:
            return found.filter(address__within=ip_network(text, strict=False))
        except ValueError:
            return found.none()


class PinholeViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    ActiveRows,
):
    """IPv6 pinholes that hold now; `?member=`, `?holding=`, `?protocol=`, `?address=` (of an address, or in a prefix)."""

    serializer_class = PinholeSerializer
    filterset_class = PinholeFilter

    def get_queryset(self) -> QuerySet[Pinhole]:
        return pinholes().order_by("id")

    def perform_destroy(self, instance: Pinhole) -> None:
        services.remove_pinhole(pinhole=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
