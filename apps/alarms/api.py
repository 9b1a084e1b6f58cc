"""REST API of alarms and silences: the same services as the pages."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.alarms import services
from apps.alarms.models import Alarm, Silence
from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet


class AlarmSerializer(ApiSerializer):
    observed_fields = frozenset(
        {"severity", "title", "evidence", "path", "gateways", "began", "gone", "reported", "ended", "seen", "seen_by"}
    )
    title = serializers.CharField(read_only=True)
    evidence = serializers.CharField(read_only=True)

    class Meta:
        model = Alarm
        fields = ["id", "key", "severity", "title", "evidence", "path", "gateways", "began", "gone", "reported", "ended", "seen", "seen_by"]
        read_only_fields = fields
        brief = ["id", "severity", "title"]


class SilenceSerializer(ApiSerializer):
    key = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    reason = serializers.CharField(max_length=200)
    until = MomentField()

    class Meta:
        model = Silence
        fields = ["id", "key", "reason", "since", "until", "by"]
        read_only_fields = ["since", "by"]
        brief = ["id", "key", "until"]

    def create(self, validated_data: Mapping[str, Any]) -> Silence:
        made = services.silence_alarms(**validated_data, by=self.context["request"].user)
        made.refresh_from_db()
        return made


class AlarmViewSet(ReadViewSet):
    """What is or was wrong, with its words in the reader's language. `ended` is null while it is open."""

    serializer_class = AlarmSerializer
    queryset = Alarm.objects.order_by("id")
    filters = build_filters(Alarm, "key", "severity", "began", "reported", "ended", "seen", "seen_by")

    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str = "") -> Response:
        """Say that you take care of it. 409 if it is over, or somebody else was first."""
        services.mark_seen(alarm=self.get_object(), by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
        return self.respond_with(self.get_object())


class SilenceViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Silences that go on: no mails about one condition (`key`), or about any if it is empty. DELETE ends one now."""

    serializer_class = SilenceSerializer
    filters = build_filters(Silence, "key", "since", "until", "by")

    def get_queryset(self) -> QuerySet[Silence]:
        return Silence.objects.filter(until__gt=timezone.now()).order_by("id")

    def remove(self, row: Silence) -> None:
        services.end_silence(silence=row, by=self.request.user)  # type: ignore[arg-type]  # an authenticated user is a User
