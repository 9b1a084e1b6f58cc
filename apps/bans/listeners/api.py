"""Listeners in the REST API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from apps.bans.listeners import services as listening
from apps.bans.listeners.models import Listener
from apps.bans.serving import ChangeableSerializer, RowsViewSet
from apps.lib.serving import with_activations

GUARD = ("guarded", "window_scale")
CHANGEABLE = ("name", "address", "protocol", "port", *GUARD, "enabled", "note")


class ListenerSerializer(ChangeableSerializer):
    address = serializers.IPAddressField()

    class Meta:
        model = Listener
        fields = ["id", "group", "name", "address", "protocol", "port", *GUARD, "enabled", "note", "active", "version"]
        validators: list[Any] = []  # the service names who is there

    def create(self, validated_data: Mapping[str, Any]) -> Listener:
        given = {key: value for key, value in validated_data.items() if key not in ("enabled", "version")}
        return with_activations([listening.add_listener(by=self.context["request"].user, **given)])[0]

    def update(self, instance: Listener, validated_data: Mapping[str, Any]) -> Listener:
        given: dict[str, Any] = {name: getattr(instance, name) for name in CHANGEABLE}
        given |= {key: value for key, value in validated_data.items() if key != "group"}
        version = given.pop("version", instance.version)
        changed = listening.change_listener(listener=instance, version=version, by=self.context["request"].user, **given)
        return with_activations([changed])[0]


class ListenerViewSet(RowsViewSet):
    """Listeners; `?group=`, `?protocol=`, `?port=`, `?enabled=`."""

    serializer_class = ListenerSerializer
    filterset_fields = ["group", "protocol", "port", "enabled"]

    def get_queryset(self) -> QuerySet[Listener]:
        return Listener.objects.order_by("id")

    def perform_destroy(self, instance: Listener) -> None:
        listening.remove_listener(listener=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
