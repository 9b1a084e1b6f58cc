"""Actions of the REST API on a gateway's life: retiring it, taking it back into service, replacing its machine, removing it."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.gateways import replacement, retirement
from apps.gateways.api import GatewaySerializer, GatewayViewSet
from apps.gateways.failover_files import render_failover_files
from apps.gateways.primaries import list_families
from apps.gateways.roles.file_drift import runs_current_files
from apps.gateways.roles.models import FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.switching import request_switch
from apps.lib.api.fields import AddressText
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, TRUTH, make_array, make_mapping, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.unknown_fields import StrictSerializer
from apps.lib.api.viewsets import RemoveViewSet, parse_request
from apps.network.models import Gateway

FAILOVER_FILES = make_object(preferred=make_array(INTEGER), files=make_mapping(TEXT))
PLANNED = make_object(families=make_array(INTEGER), successors=make_array(INTEGER), holdings=INTEGER, obstacle=TEXT)


NULLABLE_TRUTH = TRUTH | {"type": ["boolean", "null"]}
NULLABLE_TIME = TIME | {"type": ["string", "null"]}
ROLE = make_object(family=INTEGER, role=TEXT, since=NULLABLE_TIME, carries=TRUTH, is_drained=TRUTH)
ROLES = make_object(
    seen=NULLABLE_TIME, problem=TEXT, tracked=INTEGER, runs_current_files=NULLABLE_TRUTH, edited=make_array(TEXT), roles=make_array(ROLE)
)
SWITCH = make_object(kind=TEXT, families=make_array(INTEGER), state=TEXT, at=NULLABLE_TIME, ended=NULLABLE_TIME, outcome=TEXT)


class SwitchSerializer(StrictSerializer):
    """kind: switch, drain or resume. families: 4, 6 or both; without them, all that the kind concerns."""

    kind = serializers.ChoiceField(choices=RoleSwitch.MOVES)
    families = serializers.ListField(child=serializers.ChoiceField(choices=[4, 6]), required=False, max_length=2)


def _show_role(role: GatewayRole) -> dict[str, Any]:
    return {name: getattr(role, name) for name in ("family", "role", "since", "carries", "is_drained")}


def _show_status(status: FailoverStatus | None) -> dict[str, Any]:
    """Return what the gateway reported last, or empty values for one that was never asked."""
    if status is None:
        return {"seen": None, "problem": "", "tracked": 0, "runs_current_files": None, "edited": [], "roles": []}
    told = {name: getattr(status, name) for name in ("seen", "problem", "tracked", "edited")}
    runs = runs_current_files(status) if status.seen else None
    return told | {"runs_current_files": runs, "roles": [_show_role(each) for each in status.roles.all()]}


def _show_switch(row: RoleSwitch | None) -> dict[str, Any]:
    """Return the switch, or empty values for a gateway that was never switched."""
    if row is None:
        return {"kind": "", "families": [], "state": "", "at": None, "ended": None, "outcome": ""}
    return {name: getattr(row, name) for name in ("kind", "families", "state", "at", "ended")} | {"outcome": describe_outcome(row)}


class RetirementSerializer(StrictSerializer):
    """successor: the gateway that becomes primary for the families of the retired one (default: the best one)."""

    successor = serializers.PrimaryKeyRelatedField[Gateway](queryset=Gateway.objects.all(), required=False, allow_null=True)


class ReplacementSerializer(StrictSerializer):
    """host_key: of the new machine; compare its fingerprint on that machine's console first. address, port: None for the present ones."""

    host_key = serializers.CharField(max_length=400)
    address = AddressText(required=False, allow_null=True)
    port = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=65535)


class GatewayLifecycleViewSet(GatewayViewSet, RemoveViewSet):
    """Gateways: how they are reached and managed, their interfaces and probes, and the families that they are primary for.

    The list has those in service; `?retired__isnull=false` lists the others. DELETE removes only one that never took part in a rollout.
    """

    http_method_names = ["get", "post", "patch", "delete", "head"]

    def get_queryset(self) -> QuerySet[Gateway]:
        also = self.action in ("retrieve", "reinstate") or (
            self.action == "list" and any(name.startswith("retired") for name in self.request.query_params)
        )
        return super().get_queryset() if also else super().get_queryset().filter(retired=None)

    @declare_response(200, PLANNED)
    @action(detail=True)
    def retirement(self, request: Request, pk: str = "") -> Response:
        """Preview what retiring the gateway would do: the families that move, the gateways that can take them (the best first), what
        members hold in the group, and what is in the way (`obstacle`, empty if nothing is). Changes nothing.
        """
        plan = retirement.plan_retirement(self.get_object())
        others = [each.pk for each in plan.others]
        words = str(plan.obstacle or "")
        return Response({"families": plan.families, "successors": others, "holdings": plan.holdings, "obstacle": words})

    @declare_response(200, GatewaySerializer)
    @action(detail=True, methods=["post"], serializer_class=RetirementSerializer)
    def retire(self, request: Request, pk: str = "") -> Response:
        """Take the gateway out of service; another one becomes primary for its families. What it counted and confirmed stays."""
        return self._change(retirement.retire_gateway, **parse_request(RetirementSerializer, request))

    @declare_response(200, GatewaySerializer)
    @action(detail=True, methods=["post"])
    def reinstate(self, request: Request, pk: str = "") -> Response:
        """Take a retired gateway back into service, as a standby."""
        return self._change(retirement.reinstate_gateway)

    @declare_response(200, GatewaySerializer)
    @action(detail=True, methods=["post"], serializer_class=ReplacementSerializer)
    def replace(self, request: Request, pk: str = "") -> Response:
        """Expect another machine behind the gateway from now on. The next rollout sends it the whole ruleset."""
        return self._change(replacement.replace_machine, **parse_request(ReplacementSerializer, request))

    @declare_response(200, FAILOVER_FILES)
    @action(detail=True, url_path="failover-files")
    def failover_files(self, request: Request, pk: str = "") -> Response:
        """Show the gateway's failover files by their names, and the families that it is preferred for. 400 if its
        group's failover is not set, or the gateway has no address on its state sync interface.
        """
        gateway = self.get_object()
        return Response({"preferred": list_families(gateway), "files": render_failover_files(gateway)})

    @declare_response(200, SWITCH)
    @action(detail=True, methods=["post"], url_path="failover-files/install")
    def install_failover_files(self, request: Request, pk: str = "") -> Response:
        """Let the gateway's agent install its failover files, on trial: they stay if the group is carried as before with them. A worker
        does it; GET of `switch/` shows how it ends. 400 says why it cannot be done now, 409 that a switch of the group is under way.
        """
        made = request_switch(gateway=self.get_object(), kind=RoleSwitch.Kind.INSTALL, by=request.user)  # type: ignore[arg-type]  # as in remove
        return Response(_show_switch(made))

    @declare_response(200, ROLES)
    @action(detail=True)
    def roles(self, request: Request, pk: str = "") -> Response:
        """Show the gateway's roles in failover as it reported them last, and why it did not if it does not (`problem`). Roles are
        asked every ten seconds. `runs_current_files`: whether keepalived there started with the files of today's settings, null if that
        is unknown; `edited`: files that were edited by hand since.
        """
        return Response(_show_status(FailoverStatus.objects.filter(gateway=self.get_object()).first()))

    @declare_response(200, SWITCH)
    @action(detail=True, methods=["post"], serializer_class=SwitchSerializer)
    def switch(self, request: Request, pk: str = "") -> Response:
        """Move roles: another gateway takes over (`kind` “switch”), for maintenance too (“drain”), or this one stands by again (“resume”).
        A worker does it; GET shows how it ends. 400 says why it cannot be done now, 409 that another switch of the group is under way.
        """
        gateway, given = self.get_object(), parse_request(SwitchSerializer, request)
        kind, families = RoleSwitch.Kind(given["kind"]), given.get("families") or ()
        made = request_switch(gateway=gateway, kind=kind, families=families, by=request.user)  # type: ignore[arg-type]  # as in remove
        return Response(_show_switch(made))

    @declare_response(200, SWITCH)
    @switch.mapping.get  # type: ignore[untyped-decorator]  # its stubs have no types
    def last_switch(self, request: Request, pk: str = "") -> Response:
        """Show the gateway's last switch or installation (`kind` “install”), and how it ended. All values are empty if there was none."""
        last = RoleSwitch.objects.filter(gateway=self.get_object()).select_related("gateway").order_by("-id").first()
        return Response(_show_switch(last))

    def remove(self, row: Gateway) -> None:
        retirement.remove_gateway(row, by=self.request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it

    def _change(self, work: Callable[..., Gateway], **given: Any) -> Response:
        found = self.get_locked_object()
        changed = work(gateway=found, version=found.version, by=self.request.user, **given)
        return Response(GatewaySerializer(changed, context=self.get_serializer_context()).data)
