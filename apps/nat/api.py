"""Port forwards in the REST API."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from apps.lib.api.fields import MomentField
from apps.lib.api.filter_types import NUMBER
from apps.lib.api.filters import CustomFilter, Filter, build_filters
from apps.lib.api.serializers import ActiveSerializer, Reference
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import AddressField
from apps.nat import forwards_bulk, services
from apps.nat.models import PortForward
from apps.nat.selectors import build_ports_filter
from apps.network.models import Holding

EDITED = ("holding", "public", "protocol", "public_port", "private_port", "ports", "purpose")


class ForwardSerializer(ActiveSerializer):
    holding = Reference(queryset=Holding.objects.filter(is_valid_now()).select_related("member"))
    public_address = serializers.IPAddressField(protocol="IPv4", source="public")
    private_address = serializers.CharField(source="holding.address", read_only=True)
    member = Reference(source="holding.member", read_only=True)
    public_port = serializers.IntegerField(min_value=1, max_value=65535)
    private_port = serializers.IntegerField(min_value=1, max_value=65535)
    ports = serializers.IntegerField(min_value=1, max_value=PortForward.MOST_PORTS, default=1)
    last_public_port = serializers.IntegerField(source="last_port", read_only=True)
    since = MomentField(source="valid.lower", read_only=True)
    until = MomentField(source="valid.upper", required=False, allow_null=True)
    enabled = serializers.BooleanField(required=False)
    version = serializers.IntegerField(required=False, min_value=1)

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
            "since",
            "until",
            "active",
            "version",
        ]
        brief = ["id", "protocol", "public_address", "public_port", "ports"]

    def create(self, validated_data: Mapping[str, Any]) -> PortForward:
        return services.add_forward(by=self.context["request"].user, **_build_arguments(validated_data))

    def create_many(self, items: Sequence[dict[str, Any]]) -> list[PortForward]:
        return forwards_bulk.add_forwards(
            wanted=[forwards_bulk.ForwardDraft(**_build_arguments(item)) for item in items], by=self.context["request"].user
        )

    def update(self, instance: PortForward, validated_data: Mapping[str, Any]) -> PortForward:
        wanted = _build_change(instance, validated_data)
        return forwards_bulk.change_forwards(wanted=[wanted], by=self.context["request"].user)[0]

    def update_many(self, changes: Sequence[tuple[PortForward, dict[str, Any]]]) -> list[PortForward]:
        return forwards_bulk.change_forwards(wanted=[_build_change(row, item) for row, item in changes], by=self.context["request"].user)


def _build_arguments(item: Mapping[str, Any]) -> dict[str, Any]:
    until = item.get("valid", {}).get("upper")
    return {name: value for name, value in item.items() if name != "valid"} | {
        "public": AddressField().to_python(item["public"]),
        "until": until,
    }


def _build_change(row: PortForward, item: Mapping[str, Any]) -> forwards_bulk.ForwardChange:
    """Return the wanted state of the forward: fields that are not given stay as they are."""
    kept = {name: getattr(row, name) for name in (*EDITED, "enabled", "version")} | {"valid": {"upper": row.valid.upper}}
    wanted = kept | dict(item)
    until = wanted.pop("valid")["upper"]
    return forwards_bulk.ForwardChange(forward=row, **(wanted | {"public": AddressField().to_python(wanted["public"]), "until": until}))


def _filter_by_port(rows: QuerySet[PortForward], port: int) -> QuerySet[PortForward]:
    return rows.filter(build_ports_filter(port, port)) if 0 < port < 65536 else rows.none()


COLUMNS = (
    "changed_in",
    "changed_at",
    "group_id",
    "holding_id",
    "protocol",
    "public",
    "public_port",
    "private_port",
    "ports",
    "purpose",
    "enabled",
    "valid",
    "version",
    "holding__member_id",
    "holding__prefix",
)


class ForwardViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Port forwards that hold now, on or off."""

    queryset = PortForward.objects.filter(is_valid_now()).select_related("holding").order_by("id")
    serializer_class = ForwardSerializer
    group_path = "group"
    member_path = "holding__member"
    columns = COLUMNS
    filters = build_filters(
        PortForward,
        "holding",
        "protocol",
        "private_port",
        "ports",
        "purpose",
        "enabled",
        "version",
        member="holding__member",
        public_address="public",
        private_address="holding__prefix",
        since="valid__startswith",
        until="valid__endswith",
    ) | {"public_port": CustomFilter(NUMBER, _filter_by_port, "a port of it, alone or in a range", Filter("public_port", NUMBER))}

    def remove(self, row: PortForward) -> None:
        services.remove_forward(forward=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that

    def remove_many(self, rows: Sequence[PortForward]) -> None:
        forwards_bulk.remove_forwards(forwards=rows, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that
