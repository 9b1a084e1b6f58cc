"""REST API of the rules for members' own port forwards and of the fair share of an uplink, by the group's id."""

from collections.abc import Mapping
from typing import Any, cast

from rest_framework import serializers

from apps.gateways.api import SettingsSerializer, SettingsViewSet
from apps.lib.api.openapi.json_schema import INTEGER, make_array
from apps.lib.api.serializers import Reference
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, Tariff
from apps.nat.rules.models import MOST_FORBIDDEN, PortRules
from apps.nat.rules.services import change_port_rules, get_port_rules
from apps.network.models import GatewayGroup
from apps.traffic.fairshare.models import FairShare
from apps.traffic.fairshare.selectors import get_fair_share
from apps.traffic.fairshare.services import set_fair_share


class PortRulesSerializer(SettingsSerializer):
    save_row = change_port_rules
    lowest = serializers.IntegerField(min_value=1, max_value=65535)
    longest = serializers.IntegerField(min_value=1, max_value=1000)
    forbidden = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=65535), max_length=MOST_FORBIDDEN)

    class Meta:
        model = PortRules
        fields = ["group", "version", "lowest", "longest", "forbidden"]
        read_only_fields = ["group"]


def _get_rules(group: GatewayGroup) -> PortRules:
    return get_port_rules(group.pk)


class PortRulesViewSet(SettingsViewSet):
    """Ports that members of a group may open for themselves. A change does not close open ports."""

    row_of = _get_rules
    serializer_class = PortRulesSerializer


class FairShareSerializer(SettingsSerializer):
    shapes = {"exempt": make_array(INTEGER)}
    save_row = set_fair_share
    start_percent = serializers.IntegerField(min_value=2, max_value=100)
    end_percent = serializers.IntegerField(min_value=1, max_value=99)
    calm_minutes = serializers.IntegerField(min_value=0, max_value=60)
    minutes = serializers.IntegerField(min_value=5, max_value=60)
    most = serializers.IntegerField(min_value=1, max_value=1000)
    limit_minutes = serializers.IntegerField(min_value=5, max_value=60)
    up_kbit = serializers.IntegerField(min_value=LOWEST_KBIT, max_value=HIGHEST_KBIT, allow_null=True)
    down_kbit = serializers.IntegerField(min_value=LOWEST_KBIT, max_value=HIGHEST_KBIT, allow_null=True)
    exempt = Reference(queryset=Tariff.objects.all(), many=True)

    class Meta:
        model = FairShare
        part = ["start_percent", "end_percent", "calm_minutes", "minutes", "most", "limit_minutes"]
        fields = ["group", "version", "on", *part, "up_kbit", "down_kbit", "exempt"]
        read_only_fields = ["group"]

    def update(self, instance: FairShare, validated_data: Mapping[str, Any]) -> FairShare:
        exempt = list(instance.exempt.all()) if instance.pk else []
        return cast("FairShare", super().update(instance, {"exempt": exempt} | dict(validated_data)))


class FairShareViewSet(SettingsViewSet):
    """Fair share: rate limits for the heaviest members of a group while its uplink is full."""

    row_of = get_fair_share
    serializer_class = FairShareSerializer
