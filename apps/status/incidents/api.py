"""REST API of incidents: the same services as the pages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, make_array
from apps.lib.api.serializers import ApiSerializer, Reference
from apps.lib.api.unknown_fields import LINES, StrictSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, parse_request
from apps.members.models import Site
from apps.network.models import Gateway
from apps.status.incidents import services
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.incidents.services import LONGEST_TEXT, IncidentFacts, UpdateFacts
from apps.status.network_services import Impact, NetworkService

FACTS = ("title_en", "title_de", "impact", "services", "began", "planned_end", "public", "attach_tickets")


class TellSerializer(StrictSerializer):
    stage = serializers.ChoiceField(choices=IncidentUpdate.Stage.choices)
    text_en = serializers.CharField(max_length=LONGEST_TEXT, required=False, allow_blank=True, default="", style=LINES)
    text_de = serializers.CharField(max_length=LONGEST_TEXT, required=False, allow_blank=True, default="", style=LINES)
    public = serializers.BooleanField(required=False, default=True)
    notify = serializers.BooleanField(required=False, default=True)
    next_update = MomentField(required=False, allow_null=True, default=None)


class IncidentUpdateSerializer(ApiSerializer):
    class Meta:
        model = IncidentUpdate
        fields = ["id", "at", "by", "stage", "text_en", "text_de", "public", "notify"]
        read_only_fields = fields
        brief = ["id", "stage"]


class IncidentSerializer(ApiSerializer):
    shapes = {"sites": make_array(INTEGER), "gateways": make_array(INTEGER)}
    observed_fields = frozenset({"ended", "next_update", "opened", "opened_by", "updates"})
    kind = serializers.ChoiceField(choices=Incident.Kind.choices, required=False, default=Incident.Kind.FAULT)
    title_en = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    title_de = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    impact = serializers.ChoiceField(choices=Impact.choices, required=False, default=Impact.DEGRADED)
    services = serializers.ListField(child=serializers.ChoiceField(choices=NetworkService.choices), max_length=len(NetworkService))
    sites = Reference(queryset=Site.objects.all(), many=True, required=False)
    gateways = Reference(queryset=Gateway.objects.all(), many=True, required=False)
    began = MomentField(required=False)
    planned_end = MomentField(required=False, allow_null=True, default=None)
    public = serializers.BooleanField(required=False, default=True)
    attach_tickets = serializers.BooleanField(required=False, default=False)
    first = TellSerializer(write_only=True, required=False)
    updates = IncidentUpdateSerializer(many=True, read_only=True)
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Incident
        fields = [
            "id", "kind", *FACTS, "sites", "gateways", "ended", "next_update", "opened", "opened_by", "updates", "first", "version",
        ]  # fmt: skip
        read_only_fields = ["ended", "next_update", "opened", "opened_by"]
        brief = ["id", "kind", "title_en", "title_de"]
        validators: list[Any] = []  # the service validates

    def validate_first(self, first: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.instance is not None:
            raise serializers.ValidationError(_("Only a new incident takes “first”. Post what is new to “tell/”."))
        return first

    def create(self, validated_data: Mapping[str, Any]) -> Incident:
        given = {"began": timezone.now(), **validated_data}
        first = UpdateFacts(**given.pop("first", {"stage": ""}))
        given.pop("version", None)
        made = services.open_incident(facts=IncidentFacts(**given), first=first, by=self.context["request"].user)
        made.refresh_from_db()
        return made

    def update(self, instance: Incident, validated_data: Mapping[str, Any]) -> Incident:
        given, version = dict(validated_data), validated_data.get("version", instance.version)
        given.pop("version", None)
        now = {name: getattr(instance, name) for name in ("kind", *FACTS)}
        facts = replace(IncidentFacts(**now, sites=list(instance.sites.all()), gateways=list(instance.gateways.all())), **given)
        return services.change_incident(incident=instance, version=version, facts=facts, by=self.context["request"].user)


class IncidentViewSet(ReadViewSet, AddViewSet, ChangeViewSet):
    """Faults and planned work that members read of. `first`: what is told of a new one. Without houses (`sites`) all are affected."""

    serializer_class = IncidentSerializer
    queryset = Incident.objects.prefetch_related("sites", "gateways", "updates").order_by("id")
    filters = build_filters(Incident, "kind", "impact", "began", "ended", "public")

    @action(detail=True, methods=["post"], serializer_class=TellSerializer)
    def tell(self, request: Request, pk: str = "") -> Response:
        """Tell something new. The stages `over` and `called_off` end the incident; an earlier one opens it again."""
        row, facts = self.get_object(), UpdateFacts(**parse_request(TellSerializer, request))
        services.post_update(incident=row, facts=facts, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        shown = IncidentSerializer(self.get_queryset().get(pk=row.pk), context=self.get_serializer_context())
        return Response(shown.data)
