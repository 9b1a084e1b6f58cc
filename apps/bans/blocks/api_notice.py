"""Notice pages, and what blocked members still reach, in the REST API."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.bans.blocks import services
from apps.bans.blocks.models import Notice, Reachable
from apps.lib.api.fields import AddressText
from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet


class NoticeSerializer(ApiSerializer):
    ipv4 = AddressText(allow_null=True, required=False)
    ipv6 = AddressText(allow_null=True, required=False)
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Notice
        fields = ["id", "group", "ipv4", "ipv6", "port", "contact", "version"]
        read_only_fields = ["group"]
        brief = ["id", "group"]

    def update(self, instance: Notice, validated_data: Mapping[str, Any]) -> Notice:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("ipv4", "ipv6", "port", "contact", "version")}
        return services.set_notice(notice=instance, by=self.context["request"].user, **given)


class NoticeViewSet(ReadViewSet, ChangeViewSet):
    """The notice page of each gateway group: its address, and the contact that it names."""

    serializer_class = NoticeSerializer
    group_path = "group"
    queryset = Notice.objects.order_by("id")
    filters = build_filters(Notice, "group", "ipv4", "ipv6", "port", "contact", "version")


class ReachableSerializer(ApiSerializer):
    address = AddressText()
    port = serializers.IntegerField(min_value=1, max_value=65535)

    class Meta:
        model = Reachable
        fields = ["id", "notice", "name", "address", "protocol", "port"]
        validators: list[Any] = []  # the service checks for duplicates

    def create(self, validated_data: Mapping[str, Any]) -> Reachable:
        return services.add_reachable(by=self.context["request"].user, **validated_data)


class ReachableViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Ports that blocked members still reach."""

    serializer_class = ReachableSerializer
    group_path = "notice__group"
    queryset = Reachable.objects.order_by("id")
    filters = build_filters(Reachable, "notice", "name", "address", "protocol", "port")

    def remove(self, row: Reachable) -> None:
        services.remove_reachable(reachable=row, by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in
