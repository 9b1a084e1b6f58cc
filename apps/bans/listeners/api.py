"""Listeners in the REST API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from apps.bans.api_mixins import VersionedSerializer
from apps.bans.listeners import services as listening
from apps.bans.listeners.models import Listener
from apps.lib.api.filters import build_filters
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet

GUARD = ("guarded", "window_scale")
CHANGEABLE = ("name", "address", "protocol", "port", *GUARD, "enabled", "note")


class ListenerSerializer(VersionedSerializer):
    fixed_fields = frozenset({"group"})
    address = serializers.IPAddressField()

    class Meta:
        model = Listener
        fields = ["id", "group", "name", "address", "protocol", "port", *GUARD, "enabled", "note", "active", "version"]
        validators: list[Any] = []  # the service names the listener that is in the way

    def create(self, validated_data: Mapping[str, Any]) -> Listener:
        return listening.add_listener(by=self.context["request"].user, **validated_data)

    def update(self, instance: Listener, validated_data: Mapping[str, Any]) -> Listener:
        given: dict[str, Any] = {name: getattr(instance, name) for name in CHANGEABLE}
        given |= {key: value for key, value in validated_data.items() if key != "group"}
        version = given.pop("version", instance.version)
        return listening.change_listener(listener=instance, version=version, by=self.context["request"].user, **given)


class ListenerViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Listeners: ports of the network's own servers. `group` cannot be changed."""

    serializer_class = ListenerSerializer
    group_path = "group"
    filters = build_filters(Listener, "group", "name", "address", "protocol", "port", "guarded", "enabled", "version")

    def get_queryset(self) -> QuerySet[Listener]:
        return Listener.objects.order_by("id")

    def remove(self, row: Listener) -> None:
        listening.remove_listener(listener=row, by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in
