"""Port forwards in the REST API."""

from collections.abc import Iterable, Mapping
from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework import mixins, serializers, viewsets

from apps.lib.activation import Activation, activations
from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat import services
from apps.nat.models import PortForward
from apps.nat.selectors import forwards, on_ports
from apps.network.models import Holding


class ForwardSerializer(serializers.ModelSerializer[PortForward]):
    holding = serializers.PrimaryKeyRelatedField(queryset=Holding.objects.filter(holds_now()))
    public_address = serializers.IPAddressField(protocol="IPv4", source="public")
    private_address = serializers.CharField(source="holding.address", read_only=True)
    member: serializers.PrimaryKeyRelatedField[Member] = serializers.PrimaryKeyRelatedField(source="holding.member", read_only=True)
    public_port = serializers.IntegerField(min_value=1, max_value=65535)
    private_port = serializers.IntegerField(min_value=1, max_value=65535)
    ports = serializers.IntegerField(min_value=1, max_value=PortForward.MOST_PORTS, default=1)
    last_public_port = serializers.IntegerField(source="last_port", read_only=True)
    active = serializers.SerializerMethodField()

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

    def get_active(self, forward: PortForward) -> list[dict[str, object]]:
        """Since when each gateway has it as it is now; null while it has not, and then why."""
        known: list[Activation] = getattr(forward, "known_activations", [])
        return [{"gateway": each.gateway, "since": each.since, "waits": each.waits.words if each.waits else ""} for each in known]

    def create(self, validated_data: Mapping[str, Any]) -> PortForward:
        return _with_activation(services.add_forward(by=self.context["request"].user, **validated_data))


def _with_activation(forward: PortForward) -> PortForward:
    return _with_activations([forward])[0]


def _with_activations(rows: Iterable[PortForward]) -> list[PortForward]:
    for forward, known in activations(rows):
        forward.known_activations = known  # type: ignore[attr-defined]  # for the serializer alone
    return list(rows)


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
    viewsets.GenericViewSet[PortForward],
):
    """Port forwards that hold now; `?holding=`, `?protocol=`, `?public_port=` (alone or in a range)."""

    serializer_class = ForwardSerializer
    filterset_class = ForwardFilter

    def get_queryset(self) -> QuerySet[PortForward]:
        return forwards().order_by("id")

    def get_object(self) -> PortForward:
        return _with_activation(super().get_object())

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page and _with_activations(page)

    def perform_destroy(self, instance: PortForward) -> None:
        services.remove_forward(forward=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
