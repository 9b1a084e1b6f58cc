"""REST API of channels: the same services as the pages. An address can be written, never read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.alarms.channels import services
from apps.alarms.channels.models import MOST_MINUTES, AlarmChannel
from apps.alarms.channels.services import ChannelFacts
from apps.alarms.duty.selectors import list_candidates
from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet

MINUTES = "%H:%M"
FACTS = ("name", "only_critical", "after_minutes", "person", "quiet_from", "quiet_until", "language", "active")


class ChannelSerializer(ApiSerializer):
    observed_fields = frozenset({"shown", "failing_since", "error"})
    name = serializers.CharField(max_length=80)
    target = serializers.CharField(max_length=1000, write_only=True, required=False)
    only_critical = serializers.BooleanField(required=False, default=False)
    after_minutes = serializers.IntegerField(min_value=0, max_value=MOST_MINUTES, required=False, default=0)
    person = serializers.PrimaryKeyRelatedField(queryset=list_candidates(), required=False, allow_null=True, default=None)
    quiet_from = serializers.TimeField(required=False, allow_null=True, default=None, format=MINUTES, input_formats=[MINUTES])
    quiet_until = serializers.TimeField(required=False, allow_null=True, default=None, format=MINUTES, input_formats=[MINUTES])
    language = serializers.ChoiceField(choices=settings.LANGUAGES, required=False, default="en")
    active = serializers.BooleanField(required=False, default=True)
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = AlarmChannel
        fields = ["id", "target", "shown", *FACTS, "failing_since", "error", "version"]
        read_only_fields = ["shown", "failing_since", "error"]
        brief = ["id", "name"]
        validators: list[Any] = []  # the service validates

    def create(self, validated_data: Mapping[str, Any]) -> AlarmChannel:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        made = services.add_channel(facts=ChannelFacts(**given), by=self.context["request"].user)
        made.refresh_from_db()
        return made

    def update(self, instance: AlarmChannel, validated_data: Mapping[str, Any]) -> AlarmChannel:
        given, version = dict(validated_data), validated_data.get("version", instance.version)
        given.pop("version", None)
        facts = replace(ChannelFacts(**{name: getattr(instance, name) for name in FACTS}), **given)
        return services.change_channel(channel=instance, version=version, facts=facts, by=self.context["request"].user)


class ChannelViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Ways beside mail by which people learn of alarms. `target` is an address of apprise; `shown` is the same without its secrets."""

    serializer_class = ChannelSerializer
    queryset = AlarmChannel.objects.order_by("id")
    filters = build_filters(AlarmChannel, "name", "only_critical", "person", "active", "failing_since")

    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str = "") -> Response:
        """Send a test. Whether it was taken is in `failing_since` and `error` soon after."""
        services.send_test(channel=self.get_object(), by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        return self.respond_with(self.get_object())

    def remove(self, row: AlarmChannel) -> None:
        services.remove_channel(channel=row, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
