"""Port forwards in the REST API."""

from collections.abc import Mapping
from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework import mixins, serializers

from apps.lib.serving import ActiveRows, ActiveSerializer, with_activations
from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat import services
from apps.nat.models import PortForward
from apps.nat.selectors import forwards, on_ports
from apps.network.models import Holding


class ForwardSerializer(ActiveSerializer):
    holding = serializers.PrimaryKeyRelatedField(queryset=Holding.objects.filter(holds_now()))
    public_address = serializers.IPAddressField(protocol="IPv4", source="public")
    private_address = serializers.CharField(source="holding.address", read_only=True)
    member: serializers.PrimaryKeyRelatedField[Member] = serializers.PrimaryKeyRelatedField(source="holding.member", read_only=True)
    public_port = serializers.IntegerField(min_value=1, max_value=65535)
    private_port = serializers.IntegerField(min_value=1, max_value=65535)
    ports = serializers.IntegerField(min_value=1, max_value=PortForward.MOST_PORTS, default=1)
    last_public_port = serializers.IntegerField(source="last_port", read_only=True)

    class Meta:
        model = PortForward
        fields = [
            "id",
            "member",
            "holding",
            "protocol",
            "public_address",
            "public_port",
            "private_address",
            "private_port",
            "ports",
            "last_public_port",
            "purpose",
            "enabled",
            "active",
            "version",
        ]
        read_only_fields = ["enabled"]

    def create(self, validated_data: Mapping[str, Any]) -> PortForward:
        return with_activations([services.add_forward(by=self.context["request"].user, **validated_data)])[0]


class ForwardFilter(django_filters.FilterSet):
    public_port = django_filters.NumberFilter(method="with_port", label="a port of it", min_value=1, max_value=65535)

    class Meta:
        model = PortForward
        fields = ["holding", "protocol"]

    def with_port(self, found: QuerySet[PortForward], _name: str, port: Any) -> QuerySet[PortForward]:
        return found.filter(on_ports(int(port), int(port)))


class ForwardViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    ActiveRows,
):
    """Port forwards that hold now; `?holding=`, `?protocol=`, `?public_port=` (alone or in a range)."""

    serializer_class = ForwardSerializer
    filterset_class = ForwardFilter

    def get_queryset(self) -> QuerySet[PortForward]:
        return forwards().order_by("id")

    def perform_destroy(self, instance: PortForward) -> None:
        services.remove_forward(forward=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
