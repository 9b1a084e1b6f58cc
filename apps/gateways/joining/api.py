"""REST API of joining machines: the same steps as on the page, for scripts that set up many gateways."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

from django.urls import reverse
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import User
from apps.deployments.transport.ssh import compute_fingerprint
from apps.gateways.api import GatewaySerializer
from apps.gateways.families import FAMILIES
from apps.gateways.joining import services
from apps.gateways.joining.install_command import build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import suggest_for_machine
from apps.lib.api import etags
from apps.lib.api.fields import AddressText, PrefixText
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TRUTH, Shape, make_array, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.unknown_fields import StrictSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeOneViewSet, ReadViewSet, RemoveViewSet, parse_request
from firewall.machine import MachineInterface

ROLES: Final = ("lan", "wan", "management", "sync")
VERSIONS: Final = ("agent", "system", "kernel", "nft")

INTERFACE: Final = make_object(
    name=TEXT, up=TRUTH, addresses=make_array(TEXT), kind=TEXT, mac=TEXT, default_route4=TRUTH, default_route6=TRUTH
)
FACTS: Final = make_object(
    **dict.fromkeys(VERSIONS, TEXT), forwards4=TRUTH, forwards6=TRUTH, interfaces=make_array(INTERFACE), more_interfaces=INTEGER
)
CHOICE: Final = make_object(**dict.fromkeys(ROLES, TEXT), management_networks=make_array(TEXT), carries4=TRUTH, carries6=TRUTH)


class JoiningMachineSerializer(ApiSerializer):
    shapes: ClassVar[Mapping[str, Shape]] = {"facts": make_nullable(FACTS), "suggestions": make_nullable(CHOICE)}
    fixed_fields = frozenset({"name", "group"})
    observed_fields = frozenset(
        {"install_command", "progress", "problem", "seen_key", "seen_fingerprint", "facts", "clock_offset", "suggestions", "examined"}
    )
    name = serializers.CharField(max_length=40)
    address = AddressText()
    port = serializers.IntegerField(required=False, min_value=1, max_value=65535)
    seen_fingerprint = serializers.SerializerMethodField()
    install_command = serializers.SerializerMethodField()
    facts = serializers.SerializerMethodField()
    suggestions = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = JoiningMachine
        validators: ClassVar[list[Any]] = []
        found = ["progress", "problem", "seen_key", "seen_fingerprint", "facts", "clock_offset", "suggestions", "examined"]
        fields = ["id", "name", "group", "address", "port", "host_key", "install_command", *found, "begun", "by", "version"]
        read_only_fields = ["progress", "problem", "seen_key", "host_key", "clock_offset", "examined", "begun", "by"]
        brief = ["id", "name", "address", "progress"]

    def get_seen_fingerprint(self, machine: JoiningMachine) -> str:
        """Fingerprint of `seen_key`, as netzwart-join prints it; empty until the machine was reached."""
        return compute_fingerprint(machine.seen_key) if machine.seen_key else ""

    def get_install_command(self, machine: JoiningMachine) -> str | None:
        """Command to paste on the machine, as root; null until a worker has looked at the machine."""
        command = build_install_command(machine)
        return command.text if command else None

    def get_facts(self, machine: JoiningMachine) -> dict[str, object] | None:
        """What the machine reported last; null before."""
        facts = machine.parse_facts()
        if facts is None:
            return None
        plain = {name: getattr(facts, name) for name in (*VERSIONS, "forwards4", "forwards6")}
        return plain | {"interfaces": [_show_interface(each) for each in facts.interfaces], "more_interfaces": facts.more}

    def get_suggestions(self, machine: JoiningMachine) -> dict[str, object] | None:
        """Suggested choice, in the form that `finish` takes; a name is empty where nothing is suggested. null until it is ready."""
        facts = machine.parse_facts() if machine.is_ready else None
        if facts is None:
            return None
        found = suggest_for_machine(machine, facts)
        names = {role: getattr(found, role) for role in ROLES}
        others = machine.group.gateways.all()
        carries = {f"carries{family}": not any(getattr(each, f"carries{family}") for each in others) for family in FAMILIES}
        return names | {"management_networks": [str(each) for each in found.networks]} | carries

    def create(self, validated_data: Mapping[str, Any]) -> JoiningMachine:
        return services.begin_joining(by=self.context["request"].user, **validated_data)

    def update(self, instance: JoiningMachine, validated_data: Mapping[str, Any]) -> JoiningMachine:
        where = {name: validated_data.get(name, getattr(instance, name)) for name in ("address", "port", "version")}
        services.move_machine(machine=instance, **where)
        return instance


def _show_interface(interface: MachineInterface) -> dict[str, object]:
    """Return the interface as JSON values."""
    return {
        "name": interface.name,
        "up": interface.is_up,
        "addresses": [f"{each.address}/{each.length}" for each in interface.addresses],
        "kind": interface.kind,
        "mac": interface.mac,
        "default_route4": interface.default4,
        "default_route6": interface.default6,
    }


class ComparedKeySerializer(StrictSerializer):
    """host_key: the `seen_key` whose fingerprint was compared on the machine's console."""

    host_key = serializers.CharField(max_length=400)


class InterfaceChoiceSerializer(StrictSerializer):
    """Interfaces among those that the machine reported, who may manage it, and the families that it becomes primary for."""

    lan = serializers.CharField(max_length=15)
    wan = serializers.CharField(max_length=15)
    management = serializers.CharField(max_length=15)
    sync = serializers.CharField(max_length=15, required=False, allow_blank=True, default="")
    sync_address = AddressText(required=False, allow_null=True, default=None)
    management_networks = serializers.ListField(child=PrefixText(), min_length=1)
    carries4 = serializers.BooleanField(required=False, default=False)
    carries6 = serializers.BooleanField(required=False, default=False)


class JoiningMachineViewSet(ReadViewSet, AddViewSet, ChangeOneViewSet, RemoveViewSet):
    """Machines on their way to become gateways. POST begins with one; PATCH changes where it is reached; DELETE gives it up."""

    serializer_class = JoiningMachineSerializer
    group_path = "group"
    queryset = JoiningMachine.objects.select_related("group").prefetch_related("group__gateways", "group__pools").order_by("id")
    filters = build_filters(JoiningMachine, "group", "name", "address", "progress", "begun", "examined", "by", "version")
    http_method_names = ["get", "post", "patch", "delete", "head"]

    @declare_response(200, JoiningMachineSerializer)
    @action(detail=True, methods=["post"], serializer_class=ComparedKeySerializer)
    def trust(self, request: Request, pk: str = "") -> Response:
        """Accept the host key, after its fingerprint was compared on the machine's console. 409 if the machine shows another one now."""
        given = parse_request(ComparedKeySerializer, request)
        services.accept_host_key(machine=self.get_locked_object(), fingerprint_key=given["host_key"])
        return self._show(self.get_object())

    @declare_response(202, JoiningMachineSerializer)
    @action(detail=True, methods=["post"])
    def examine(self, request: Request, pk: str = "") -> Response:
        """Ask a worker to look at the machine again. `examined` says when it has; more often than every few seconds has no effect."""
        machine = self.get_object()
        services.request_examination(machine)
        return self._show(machine, status.HTTP_202_ACCEPTED)

    @declare_response(201, GatewaySerializer)
    @action(detail=True, methods=["post"], serializer_class=InterfaceChoiceSerializer)
    def finish(self, request: Request, pk: str = "") -> Response:
        """Make a gateway of the machine, which answers with the gateway. 409 if the machine is not ready."""
        given = parse_request(InterfaceChoiceSerializer, request)
        carries = [family for family in FAMILIES if given.pop(f"carries{family}")]
        made = services.finish_joining(machine=self.get_locked_object(), carries=carries, by=cast("User", request.user), **given)
        headers = {"Location": reverse("api:gateway-detail", args=[made.pk]), "ETag": etags.compute_etag(made)}
        return Response(GatewaySerializer(made, context=self.get_serializer_context()).data, status=201, headers=headers)

    def remove(self, row: JoiningMachine) -> None:
        services.give_up(machine=row)

    def _show(self, machine: JoiningMachine, code: int = status.HTTP_200_OK) -> Response:
        """Return the machine as it is after an action."""
        shown = JoiningMachineSerializer(machine, context=self.get_serializer_context())
        return Response(shown.data, status=code, headers={"ETag": etags.compute_etag(machine)})
