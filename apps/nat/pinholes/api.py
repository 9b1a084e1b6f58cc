"""IPv6 pinholes in the REST API."""

from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Any

from rest_framework import serializers

from apps.lib.api.fields import MomentField
from apps.lib.api.filter_types import NET_WITHIN, NETWORK
from apps.lib.api.filters import Filter, build_filters
from apps.lib.api.serializers import ActiveSerializer, Reference
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now
from apps.nat.expiry_dates import EndSentinel
from apps.nat.pinholes import services
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_pinholes
from apps.network.models import Holding


class PinholeSerializer(ActiveSerializer):
    """`port` and `ports` are null where all ports are open."""

    fixed_fields = frozenset({"holding"})
    holding = Reference(queryset=Holding.objects.filter(is_valid_now()))
    member = Reference(source="holding.member", read_only=True)
    address = serializers.IPAddressField(protocol="IPv6")
    port = serializers.IntegerField(min_value=1, max_value=65535, allow_null=True, default=None)
    ports = serializers.IntegerField(min_value=1, max_value=Pinhole.MOST_PORTS, allow_null=True, default=1)
    until = MomentField(source="valid.upper", allow_null=True, required=False)
    enabled = serializers.BooleanField(required=False)
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Pinhole
        fields = ["id", "member", "holding", "address", "protocol", "port", "ports", "purpose", "until", "enabled", "active", "version"]
        brief = ["id", "address", "protocol", "port", "ports"]

    def to_representation(self, instance: Pinhole) -> dict[str, Any]:
        said = super().to_representation(instance)
        return said if instance.port else {name: None if name in ("port", "ports") else value for name, value in said.items()}

    def create(self, validated_data: Mapping[str, Any]) -> Pinhole:
        given = dict(validated_data)
        until = given.pop("valid", {}).get("upper")
        return services.add_pinhole(until=until, by=self.context["request"].user, **_normalize_ports(given))

    def update(self, instance: Pinhole, validated_data: Mapping[str, Any]) -> Pinhole:
        names = ("address", "protocol", "port", "ports", "purpose", "enabled", "version")
        told = {name: value for name, value in validated_data.items() if name not in ("holding", "valid")}
        now = {name: getattr(instance, name) for name in names}
        if not instance.port:
            now["ports"] = 1  # not ALL_PORTS, which the row has: a port given now is one
        given = _normalize_ports(now | told)
        until = validated_data.get("valid", {}).get("upper", EndSentinel.UNCHANGED)
        return services.change_pinhole(pinhole=instance, until=until, by=self.context["request"].user, **given)


def _normalize_ports(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values as the services take them: port 0 for all ports."""
    return given | {"address": IPv6Address(str(given["address"])), "port": given["port"] or 0, "ports": given["ports"] or 1}


class PinholeViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """IPv6 pinholes that hold now, on or off. `?address=` finds an address, or all pinholes in a prefix. `holding` cannot be changed."""

    queryset = list_pinholes().order_by("id")
    serializer_class = PinholeSerializer
    group_path = "group"
    member_path = "holding__member"
    filters = build_filters(
        Pinhole, "holding", "protocol", "port", "ports", "purpose", "enabled", "version", member="holding__member", until="valid__endswith"
    ) | {"address": Filter("address", NETWORK, exact=NET_WITHIN)}

    def remove(self, row: Pinhole) -> None:
        services.remove_pinhole(pinhole=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that
