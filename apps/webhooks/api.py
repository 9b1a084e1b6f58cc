"""REST API of webhooks and their deliveries. Webhooks are created on a page, which shows the secret once."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import ApiToken
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import TEXT, make_array
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.webhooks import services
from apps.webhooks.models import EVENTS, Delivery, Endpoint
from apps.webhooks.services import EndpointFacts


class WebhookSerializer(ApiSerializer):
    observed_fields = frozenset({"failures", "rest_until"})
    shapes = {"kinds": make_array(TEXT), "events": make_array(TEXT | {"enum": list(EVENTS)})}
    kinds = serializers.ListField(child=serializers.CharField(max_length=40), required=False, max_length=200)
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS), source="on", required=False, max_length=len(EVENTS))
    version = serializers.IntegerField(required=False, min_value=1)

    name = serializers.CharField(max_length=80)

    class Meta:
        model = Endpoint
        fields = ["id", "name", "url", "owner", "kinds", "events", "active", "created", "failures", "rest_until", "version"]
        read_only_fields = ["owner", "created", "failures", "rest_until"]
        brief = ["id", "name"]
        validators: list[Any] = []  # the service validates

    def update(self, instance: Endpoint, validated_data: Mapping[str, Any]) -> Endpoint:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("name", "url", "kinds", "active")}
        facts = EndpointFacts(**given, events=validated_data.get("on", instance.on))
        version, token = validated_data.get("version", instance.version), self.context["request"].auth
        if isinstance(token, ApiToken):
            services.check_token_scope(token=token, endpoint=instance, facts=facts)
        return services.change_webhook(endpoint=instance, version=version, facts=facts, by=self.context["request"].user)


class DeliverySerializer(ApiSerializer):
    delivery = serializers.UUIDField(source="uid", read_only=True)
    shapes = {"delivery": TEXT | {"format": "uuid"}, "status": {"type": ["integer", "null"]}}

    class Meta:
        model = Delivery
        told = ["id", "endpoint", "delivery", "event", "object_id", "written", "state", "tries", "due", "status", "error", "ended"]
        fields = told
        read_only_fields = told
        brief = ["id", "event", "state"]


class WebhookViewSet(ReadViewSet, ChangeViewSet, RemoveViewSet):
    """Addresses that receive changes. Webhooks are created on a page of the portal, which shows the secret once."""

    serializer_class = WebhookSerializer
    queryset = Endpoint.objects.select_related("owner").order_by("id")
    filters = build_filters(Endpoint, "name", "url", "owner", "active", "created", "failures", "version")

    def remove(self, row: Endpoint) -> None:
        services.remove_webhook(endpoint=row, by=self.get_writer())

    @declare_response(201, DeliverySerializer)
    @action(detail=True, methods=["post"])
    def ping(self, request: Request, pk: str = "") -> Response:
        """Queue a test and return its delivery."""
        made = services.ping_webhook(endpoint=self.get_object(), by=self.get_writer())
        made.refresh_from_db()
        return Response(DeliverySerializer(made).data, status=201)

    def get_writer(self) -> Any:
        """Return the account of the token or the session."""
        return self.request.user


class DeliveryViewSet(ReadViewSet):
    """Deliveries to webhooks. The portal's page of a delivery shows its body and the answer."""

    serializer_class = DeliverySerializer
    filters = build_filters(Delivery, "endpoint", "event", "object_id", "written", "state", "tries", "due", "status", "ended")

    def get_queryset(self) -> QuerySet[Delivery]:
        return Delivery.objects.defer("body", "answer").order_by("id")

    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str = "") -> Response:
        """Send the delivery again, under the same id."""
        services.resend_delivery(delivery=self.get_object(), by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        return self.respond_with(self.get_object())
