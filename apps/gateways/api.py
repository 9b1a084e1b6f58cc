"""Gateway groups in the REST API, and what their gateways do for all members alike: protection, limits and profile, by the group's id."""

from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import mixins, serializers, viewsets

from apps.gateways import kernels, settings
from apps.gateways.flood import set_flood_mode
from apps.lib.activation import activations
from apps.network.models import GatewayGroup, Limits, Profile, Protection

type Row = Protection | Limits | Profile


class PrefixText(serializers.CharField):
    """A network as text."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return ip_network(text)
        except ValueError as error:
            raise serializers.ValidationError(f"{text[:60]!r} is no network, like 192.0.2.0/24") from error


class AddressText(serializers.CharField):
    """An address as text."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return ip_address(text)
        except ValueError as error:
            raise serializers.ValidationError(f"{text[:60]!r} is no address, like 192.0.2.1") from error


class SettingsSerializer(serializers.ModelSerializer[Any]):
    """A row that need not be there yet: its version is 0 then. `version` says which one a change is made on top of."""

    save_row: ClassVar[Callable[..., Row]]
    version = serializers.IntegerField(min_value=0)
    active = serializers.SerializerMethodField()

    def get_active(self, row: Row) -> list[dict[str, object]]:
        """Since when each gateway has it as it is now; null while it has not, and then why."""
        known = activations([row])[0][1] if row.pk else []
        return [{"gateway": each.gateway, "since": each.since, "waits": each.waits.words if each.waits else ""} for each in known]

    def update(self, instance: Any, validated_data: Mapping[str, Any]) -> Row:
        changeable = [name for name, field in self.fields.items() if not field.read_only]
        values = {name: validated_data.get(name, getattr(instance, name)) for name in changeable}
        return type(self).save_row(group=instance.group, by=self.context["request"].user, **values)


class ProtectionSerializer(SettingsSerializer):
    save_row = settings.protect
    clamp_mss = serializers.BooleanField(source="group.clamp_mss")
    own = serializers.ListField(child=PrefixText())
    bgp_peers = serializers.ListField(child=AddressText())
    ospf_peers = serializers.ListField(child=AddressText())
    ftp_ports = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=65535))
    sip_ports = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=65535))

    class Meta:
        model = Protection
        fields = ["group", "version", "clamp_mss", "bogons", "own", "bgp_peers", "ospf_peers", "ftp_ports", "sip_ports", "active"]
        read_only_fields = ["group"]

    def update(self, instance: Any, validated_data: Mapping[str, Any]) -> Row:
        clamps = validated_data.get("group", {}).get("clamp_mss", instance.group.clamp_mss)
        instance.clamp_mss = clamps
        saved = super().update(instance, {**validated_data, "clamp_mss": clamps})
        saved.group.refresh_from_db()
        return saved


class LimitsSerializer(SettingsSerializer):
    save_row = settings.limit
    exempt = serializers.ListField(child=PrefixText())

    class Meta:
        model = Limits
        fields = [
            "group",
            "version",
            "member_rate",
            "member_burst",
            "member_open",
            "source_rate",
            "source_burst",
            "source_open",
            "mail_rate",
            "refuses",
            "exempt",
            "active",
        ]
        read_only_fields = ["group"]


class ProfileSerializer(SettingsSerializer):
    save_row = settings.tune
    kernels = serializers.SerializerMethodField()

    class Meta:
        model = Profile
        fields = [
            "group",
            "version",
            "managed",
            "connections",
            "buckets",
            "tcp_established",
            "tcp_syn_sent",
            "tcp_fin_wait",
            "tcp_close_wait",
            "tcp_time_wait",
            "udp",
            "udp_stream",
            "icmp",
            "generic",
            "tcp_loose",
            "first_port",
            "last_port",
            "kernels",
            "active",
        ]
        read_only_fields = ["group"]

    def get_kernels(self, row: Profile) -> list[dict[str, object]]:
        """What each gateway's kernel holds: connections now, at most, buckets; and what is not as it should be, with the reason."""
        return [
            {"gateway": each.gateway.pk, "at": each.at, "tracked": each.tracked, "most": each.most, "buckets": each.buckets}
            | {"others": [{"name": it.name, "wanted": it.wanted, "found": it.found, "why": it.why} for it in each.others]}
            for each in kernels.tables_of(row.group, row)
        ]


class SettingsViewSet(mixins.RetrieveModelMixin, mixins.UpdateModelMixin, viewsets.GenericViewSet[Any]):
    """Read, and changed with PATCH or PUT on top of the version that was read; 409 where somebody else was faster."""

    row_of: ClassVar[Callable[[GatewayGroup], Row]]
    queryset: QuerySet[Any] = GatewayGroup.objects.all()

    def get_object(self) -> Row:
        return type(self).row_of(get_object_or_404(GatewayGroup, pk=self.kwargs["pk"]))


class ProtectionViewSet(SettingsViewSet):
    """What a group's gateways refuse, and which routers may speak to them."""

    row_of = settings.protection_of
    serializer_class = ProtectionSerializer


class ProfileViewSet(SettingsViewSet):
    """What the kernels of a group's gateways are set to; while `managed` is false they are left as they are."""

    row_of = settings.profile_of
    serializer_class = ProfileSerializer


class LimitsViewSet(SettingsViewSet):
    """How many connections one may open through a group's gateways; 0: no limit."""

    row_of = settings.limits_of
    serializer_class = LimitsSerializer


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
