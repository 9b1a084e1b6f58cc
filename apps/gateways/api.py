"""REST API of gateways and gateway groups, and of the groups' settings (protection, limits, profile, uplink) by the group's id."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar, cast

from django.db.models import QuerySet
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from apps.bans.listeners.models import ServerInterface
from apps.deployments.approvals.limit_changes import find_waiting_limits
from apps.deployments.models import GatewayState
from apps.deployments.revision_pages.change_summary import render_summary
from apps.deployments.revision_pages.presentation import preview_deploy, read_database_clock
from apps.deployments.rollouts.go_live import go_live
from apps.gateways import enrolment, families, group_settings, groups, kernel_gauges, primaries, renaming, services
from apps.gateways.agent_upgrade.api_texts import describe_agents
from apps.gateways.agent_upgrade.requesting import request_upgrade
from apps.gateways.flood import set_flood_mode
from apps.gateways.probe_facts import ADDRESSES
from apps.lib.api.fields import AddressText, PrefixText
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, TRUTH, Shape, make_array, make_mapping, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ActiveSerializer, ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeOneViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.nat.rules.models import PortRules
from apps.network.models import Failover, Gateway, GatewayGroup, Limits, Profile, Protection, Uplink
from apps.traffic.fairshare.models import FairShare
from apps.traffic.rates.fair_queues import list_queue_lacks
from apps.traffic.rates.selectors import get_uplink
from apps.traffic.rates.services import set_uplink
from firewall.diff import Delta
from firewall.render import render_delta

type Row = Protection | Limits | Profile | Uplink | PortRules | FairShare | Failover


OTHERS: Shape = make_array(make_object(name=TEXT, wanted=TEXT, found=TEXT, why=TEXT))
KERNELS: Shape = make_array(make_object(gateway=INTEGER, at=TIME, tracked=INTEGER, most=INTEGER, buckets=INTEGER, others=OTHERS))
LACKS: Shape = make_array(make_object(gateway=INTEGER, why=TEXT))
CHANGES: Shape = make_array(make_object(kind=TEXT, added=INTEGER, removed=INTEGER, changed=INTEGER, of=INTEGER))
PLAN: Shape = make_object(gateway=TEXT, problem=TEXT, in_words=TEXT, changes=CHANGES, chains=INTEGER, text=TEXT)
DIFFERS: Shape = make_object(missing=make_array(TEXT), foreign=make_array(TEXT), missing_count=INTEGER, foreign_count=INTEGER)
AGENT_STEPS: Shape = make_array(make_object(gateway=INTEGER, state=TEXT, since=TIME, before=TEXT, in_words=TEXT, needs_package=TRUTH))
UPGRADE: Shape = make_object(agent=TEXT, state=TEXT, at=TIME, ended=make_nullable(TIME), steps=AGENT_STEPS)
AGENTS: Shape = make_object(ours=TEXT, gateways=make_array(make_object(gateway=INTEGER, agent=TEXT)), upgrade=make_nullable(UPGRADE))
PAST: Shape = make_object(
    cause=TEXT, since=make_nullable(TIME), until=TIME, rules=INTEGER, missing=INTEGER, foreign=INTEGER, sysctls=INTEGER
)
DRIFT: Shape = make_object(
    since=make_nullable(TIME),
    cause=make_nullable(TEXT),
    chains=make_array(TEXT),
    elements=make_mapping(DIFFERS),
    settings=make_array(make_object(name=TEXT, wanted=TEXT, found=TEXT)),
    before=make_array(PAST),
)


class SettingsSerializer(ApiSerializer):
    """Settings of a group. `version` is the version that a change is based on; 0 if no settings have been saved yet."""

    save_row: ClassVar[Callable[..., Row]]
    version = serializers.IntegerField(min_value=0)

    def update(self, instance: Any, validated_data: Mapping[str, Any]) -> Row:
        changeable = [name for name, field in self.fields.items() if not field.read_only]
        values = {name: validated_data[name] if name in validated_data else getattr(instance, name) for name in changeable}
        return type(self).save_row(group=instance.group, by=self.context["request"].user, **values)


class ActiveSettingsSerializer(SettingsSerializer, ActiveSerializer):
    """Settings of a group that its gateways run; `active` shows since when."""


class ProtectionSerializer(ActiveSettingsSerializer):
    save_row = group_settings.change_protection
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


class LimitsSerializer(ActiveSettingsSerializer):
    save_row = group_settings.change_limits
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
            "open_sampled",
            "mail_rate",
            "refuses",
            "exempt",
            "active",
        ]
        read_only_fields = ["group"]


class ProfileSerializer(ActiveSettingsSerializer):
    shapes = {"kernels": KERNELS}
    observed_fields = frozenset({"kernels"})
    save_row = group_settings.change_profile
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
        """Kernel of each gateway: tracked connections, their maximum, buckets, and sysctls that differ from the profile, with the
        reason.
        """
        return [
            {"gateway": each.gateway.pk, "at": each.at, "tracked": each.tracked, "most": each.most, "buckets": each.buckets}
            | {"others": [{"name": it.name, "wanted": it.wanted, "found": it.found, "why": it.why} for it in each.others]}
            for each in kernel_gauges.list_connection_tables(row.group, row)
        ]


class SettingsViewSet(ChangeOneViewSet):
    """Settings of a group. PATCH or PUT changes them, based on the version that was read; 409 if they were changed meanwhile."""

    group_path = "pk"
    row_of: ClassVar[Callable[[GatewayGroup], Row]]
    queryset: QuerySet[Any] = GatewayGroup.objects.all()

    def get_object(self) -> Row:
        return type(self).row_of(get_object_or_404(self.limit_to_scope(self.get_queryset()), pk=self.kwargs["pk"]))

    def validate_reach(self, rows: Sequence[Row]) -> Sequence[Row]:
        return rows  # a row cannot be moved to another group

    def lock(self, rows: Sequence[Row]) -> None:
        super().lock([row.group for row in rows])  # the rows may not exist yet

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.respond_with(self.get_object())


class ProtectionViewSet(SettingsViewSet):
    """Protection of a group: what its gateways refuse, and which routers may connect to them."""

    row_of = group_settings.get_protection
    serializer_class = ProtectionSerializer


class ProfileViewSet(SettingsViewSet):
    """Kernel profile of a group's gateways; while `managed` is false, their kernels are left as they are."""

    row_of = group_settings.get_profile
    serializer_class = ProfileSerializer


class LimitsViewSet(SettingsViewSet):
    """Connection limits of a group's gateways; 0: no limit."""

    row_of = group_settings.get_limits
    serializer_class = LimitsSerializer


class GatewayGroupSerializer(ApiSerializer):
    shapes = {"approval": make_nullable(INTEGER)}
    observed_fields = frozenset({"approval"})
    name = serializers.CharField(max_length=groups.LONGEST_NAME)
    probe_target4 = AddressText(required=False, allow_null=True)
    probe_target6 = AddressText(required=False, allow_null=True)
    approval = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False)

    class Meta:
        model = GatewayGroup
        facts = [each.name for each in dataclass_fields(groups.GroupFacts)]
        fields = ["id", *facts, "flood_mode", "live_since", "approval", "version"]
        read_only_fields = ["live_since"]

    def get_approval(self, row: GatewayGroup) -> int | None:
        """Id of the approval that looser limits of removals wait for; null if none do."""
        held = find_waiting_limits(row)
        return held.pk if held else None

    def create(self, validated_data: Mapping[str, Any]) -> GatewayGroup:
        made = groups.add_group(facts=groups.GroupFacts(**self._pick_facts(validated_data)), by=self.context["request"].user)
        return self._switch_flood_mode(made, validated_data)

    def update(self, instance: GatewayGroup, validated_data: Mapping[str, Any]) -> GatewayGroup:
        given = self._pick_facts(validated_data)
        version, by = validated_data.get("version", instance.version), self.context["request"].user
        if not given:
            return set_flood_mode(group=instance, version=version, on=validated_data.get("flood_mode", instance.flood_mode), by=by)
        facts = groups.GroupFacts(**({name: getattr(instance, name) for name in self.Meta.facts} | given))
        return self._switch_flood_mode(groups.change_group(group=instance, version=version, facts=facts, by=by), validated_data)

    def changes_nothing(self, row: GatewayGroup, data: Any, taken: Mapping[str, Any]) -> bool:
        """Like its base; but the present limits, where looser ones wait, withdraw these."""
        withdraws = any(name in taken for name in groups.LIMITS) and find_waiting_limits(row) is not None
        return not withdraws and super().changes_nothing(row, data, taken)

    def _pick_facts(self, validated: Mapping[str, Any]) -> dict[str, Any]:
        return {name: validated[name] for name in self.Meta.facts if name in validated}

    def _switch_flood_mode(self, group: GatewayGroup, validated: Mapping[str, Any]) -> GatewayGroup:
        on = validated.get("flood_mode", group.flood_mode)
        if on == group.flood_mode:
            return group
        return set_flood_mode(group=group, version=group.version, on=on, by=self.context["request"].user)


class GatewayGroupViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Gateway groups: their rollout settings, the targets of their probes, and whether they are in flood mode."""

    serializer_class = GatewayGroupSerializer
    group_path = "pk"
    queryset = GatewayGroup.objects.order_by("name", "id")
    filters = build_filters(GatewayGroup, "name", "flood_mode", "version")

    @declare_response(200, GatewayGroupSerializer)
    @declare_response(202, GatewayGroupSerializer)
    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        answer = super().update(request, *args, **kwargs)
        given, shown = cast("Mapping[str, Any]", request.data), cast("Mapping[str, Any]", answer.data)
        if shown["approval"] and any(name in given and given[name] != shown[name] for name in groups.LIMITS):
            answer.status_code = status.HTTP_202_ACCEPTED
        return answer

    @declare_response(200, GatewayGroupSerializer)
    @declare_response(202, GatewayGroupSerializer)
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().partial_update(request, *args, **kwargs)

    def remove(self, row: GatewayGroup) -> None:
        groups.remove_group(group=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it

    @declare_response(200, GatewayGroupSerializer)
    @action(detail=True, methods=["post"])
    def live(self, request: Request, pk: str = "") -> Response:
        """Go live: what the database asks for is deployed to this group's gateways from now on. 409 if the group is live already."""
        group = go_live(group=self.get_object(), by=request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it
        return self.respond_with(group)

    @declare_response(200, AGENTS)
    @action(detail=True)
    def agents(self, request: Request, pk: str = "") -> Response:
        """Show which agents the group's gateways told, this portal's, and how the last upgrade goes or went. Contacts no gateway."""
        return Response(describe_agents(self.get_object()))

    @declare_response(200, AGENTS)
    @action(detail=True, methods=["post"], url_path="agents/upgrade")
    def upgrade_agents(self, request: Request, pk: str = "") -> Response:
        """Upgrade the group's agents, one gateway after the other, each on trial. A worker does it; GET of `agents/` shows how it ends.
        400 if all are of this portal's release, 409 if an upgrade is under way.
        """
        group = self.get_object()
        request_upgrade(group=group, by=request.user)  # type: ignore[arg-type]  # as in remove
        return Response(describe_agents(group))

    @declare_response(200, PLAN, gateway="the name of one of its gateways (default: the first)")
    @action(detail=True)
    def plan(self, request: Request, pk: str = "") -> Response:
        """Show what a deploy would change now, compared with what the gateways confirmed last. Contacts no gateway and changes nothing."""
        preview = preview_deploy(self.get_object(), request.query_params.get("gateway", ""))
        if preview.compared is None:
            return Response({"gateway": "", "problem": preview.problem, "in_words": "", "changes": [], "chains": 0, "text": ""})
        compared, lines = preview.compared, preview.compared.lines
        return Response(
            {
                "gateway": compared.gateway,
                "problem": "",
                "in_words": render_summary(lines, rules=compared.chain_count),
                "changes": [asdict(line) | {"kind": line.kind.value} for line in lines],
                "chains": compared.chain_count,
                "text": render_delta(compared.delta, now=read_database_clock()) if compared.delta != Delta() else "",
            }
        )


class UplinkSerializer(ActiveSettingsSerializer):
    shapes = {"without_queues": LACKS}
    observed_fields = frozenset({"without_queues"})
    save_row = set_uplink
    without_queues = serializers.SerializerMethodField()

    class Meta:
        model = Uplink
        fields = [
            *("group", "version", "up_kbit", "down_kbit", "limits_rates"),
            *("queue_up_kbit", "queue_down_kbit", "framing", "without_queues", "active"),
        ]
        read_only_fields = ["group"]

    def get_without_queues(self, row: Uplink) -> list[dict[str, object]]:
        """Gateways that run without the fair queues, with the reason."""
        return [{"gateway": each.pk, "why": each.why} for each in list_queue_lacks(row.group)]


class UplinkViewSet(SettingsViewSet):
    """Uplink of a group: its rates in kbit/s, whether members' rates are limited on it, and its fair queues."""

    row_of = get_uplink
    serializer_class = UplinkSerializer


class GatewaySerializer(ApiSerializer):
    fixed_fields = frozenset({"group", "host_key"})
    sync = serializers.CharField(max_length=15, allow_blank=True, required=False)
    management_networks = serializers.ListField(child=PrefixText(), min_length=1)
    management_port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    name = serializers.CharField(max_length=40)
    host_key = serializers.CharField(max_length=400, allow_blank=True)
    address = AddressText(required=False, allow_null=True)
    sync_address = AddressText(required=False, allow_null=True)
    probe_source4 = AddressText(required=False, allow_null=True)
    probe_public4 = AddressText(required=False, allow_null=True)
    probe_source6 = AddressText(required=False, allow_null=True)
    carries4 = serializers.BooleanField(required=False)  # declared, so that the service answers and not the unique constraint
    carries6 = serializers.BooleanField(required=False)
    servers = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Gateway
        validators: ClassVar[list[Any]] = []
        fields = ["id", "group", "name", "link", "host_key", *services.FACTS, "carries4", "carries6", "servers", "retired", "version"]
        read_only_fields = ["link", "retired"]

    def get_servers(self, gateway: Gateway) -> str | None:
        """Interface to the network's own servers; null if they are behind the members' interface."""
        known: ServerInterface | None = getattr(gateway, "server_interface", None)
        return known.name if known else None

    def create(self, validated_data: Mapping[str, Any]) -> Gateway:
        given = {"address": None, "management_port": 22, "ssh_user": "netzwart", "sync": ""} | dict(validated_data)
        probe = {name: given.pop(name) for name in ("probe_interface", *ADDRESSES) if name in given}
        carries = [family for family in families.FAMILIES if given.pop(f"carries{family}", False)]
        where = {"port": given.pop("management_port"), "account": given.pop("ssh_user")}
        by = self.context["request"].user
        made = enrolment.enrol_gateway(carries=carries, by=by, **where, **given)
        if not any(probe.values()):
            return made
        return services.configure_gateway(gateway=made, version=made.version, facts=replace(services.get_facts(made), **probe), by=by)

    def update(self, instance: Gateway, validated_data: Mapping[str, Any]) -> Gateway:
        saved, by = instance, self.context["request"].user
        if validated_data.get("version", saved.version) != saved.version:
            raise services.build_conflict(saved)
        if "name" in validated_data:
            saved = renaming.rename_gateway(gateway=saved, name=validated_data["name"], version=saved.version, by=by)
        given = {name: validated_data[name] for name in services.FACTS if name in validated_data}
        if given:
            facts = replace(services.get_facts(saved), **given)
            saved = services.configure_gateway(gateway=saved, version=saved.version, facts=facts, by=by)
        for family in families.FAMILIES:
            wanted, is_primary = validated_data.get(f"carries{family}"), getattr(saved, f"carries{family}")
            if wanted and not is_primary:
                saved = primaries.set_primary(gateway=saved, family=family, version=saved.version, by=by)
            elif wanted is False and is_primary:
                primaries.refuse_unsetting_primary(saved, family)
        return saved


class GatewayViewSet(ReadViewSet, AddViewSet, ChangeViewSet):
    """Gateways: how they are reached and managed, their interfaces and probes, and the families that they are primary for."""

    serializer_class = GatewaySerializer
    group_path = "group"
    queryset = Gateway.ever.select_related("server_interface").order_by("id")
    filters = build_filters(Gateway, "group", "name", "link", "address", "carries4", "carries6", "retired", "version")
    http_method_names = ["get", "post", "patch", "head"]

    @declare_response(200, DRIFT)
    @action(detail=True)
    def drift(self, request: Request, pk: str = "") -> Response:
        """Drift: how the gateway's kernel differed from its committed ruleset when last checked. `since` is null if nothing differs."""
        status = GatewayState.objects.filter(gateway=self.get_object()).first()
        found = (status and status.drift) or {"rules": [], "elements": {}, "sysctls": []}
        settings = [dict(zip(("name", "wanted", "found"), map(str, each), strict=True)) for each in found.get("sysctls", [])]
        since = status.drift_since if status and status.drift else None
        cause = found.get("cause", "by_hand") if since else None
        before = status.drifted_before if status else []
        told = {"since": since, "cause": cause, "chains": found["rules"], "elements": found["elements"], "settings": settings}
        return Response({**told, "before": before})
