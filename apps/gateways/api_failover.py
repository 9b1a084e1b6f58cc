"""REST API of a group's failover, by the group's id. The files that result are an action of each gateway."""

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.gateways.api import SettingsSerializer, SettingsViewSet
from apps.gateways.failover_settings import change_failover, get_failover, stop_managing_failover
from apps.lib.api.fields import InterfaceAddressText
from apps.lib.api.openapi.operations import declare_response
from apps.network.models import Failover
from firewall.failover.spec import HEALTH, INTERVALS, MOST_ADDRESSES, VIRTUAL_ROUTERS


class FailoverSerializer(SettingsSerializer):
    save_row = change_failover
    inside = serializers.ListField(child=InterfaceAddressText(), max_length=MOST_ADDRESSES)
    outside = serializers.ListField(child=InterfaceAddressText(), max_length=MOST_ADDRESSES)
    servers = serializers.ListField(child=InterfaceAddressText(), max_length=MOST_ADDRESSES)
    virtual_router = serializers.IntegerField(min_value=VIRTUAL_ROUTERS[0], max_value=VIRTUAL_ROUTERS[-1])
    interval = serializers.IntegerField(min_value=INTERVALS[0], max_value=INTERVALS[-1])
    failback = serializers.IntegerField(min_value=HEALTH[0], max_value=HEALTH[-1], allow_null=True)

    class Meta:
        model = Failover
        fields = ["group", "version", "inside", "outside", "servers", "virtual_router", "interval", "failback", "cache", "announce"]
        read_only_fields = ["group"]


class FailoverViewSet(SettingsViewSet):
    """Failover of a group: the addresses that its gateways hold in turn, and when one takes over. Nothing of it is sent to gateways."""

    row_of = get_failover
    serializer_class = FailoverSerializer

    @declare_response(200, FailoverSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str = "") -> Response:
        """Stop managing the failover of this group; what runs on the gateways goes on. Doing it twice is harmless."""
        row = self.get_locked_object()
        stop_managing_failover(group=row.group, version=row.version, by=request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it
        return self.respond_with(get_failover(row.group))
