"""Gateway groups in the REST API."""

from collections.abc import Mapping
from typing import Any

from rest_framework import mixins, serializers, viewsets

from apps.gateways.flood import set_flood_mode
from apps.network.models import GatewayGroup


class GatewayGroupSerializer(serializers.ModelSerializer[GatewayGroup]):
    version = serializers.IntegerField(required=False)

    class Meta:
        model = GatewayGroup
        fields = ["id", "name", "flood_mode", "version"]
        read_only_fields = ["name"]

    def update(self, instance: GatewayGroup, validated_data: Mapping[str, Any]) -> GatewayGroup:
        version, on = validated_data.get("version", instance.version), validated_data.get("flood_mode", instance.flood_mode)
        return set_flood_mode(group=instance, version=version, on=on, by=self.context["request"].user)


class GatewayGroupViewSet(mixins.RetrieveModelMixin, mixins.UpdateModelMixin, mixins.ListModelMixin, viewsets.GenericViewSet[GatewayGroup]):
    """Groups, and whether they are in flood mode."""

    serializer_class = GatewayGroupSerializer
    queryset = GatewayGroup.objects.order_by("name")
    http_method_names = ["get", "patch", "head", "options"]
