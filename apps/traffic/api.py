"""A member's usage in the REST API."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from apps.members.models import Member
from apps.network.models import Holding
from apps.traffic import windows
from apps.traffic.selectors import Point, series, series_of_holding
from apps.traffic.windows import DAY, FIVE_MINUTES, HOUR, Preset, Window

UNITS = {"5min": FIVE_MINUTES, "hour": HOUR, "day": DAY}
MOST_POINTS = 10_000


class AskedSerializer(serializers.Serializer[Any]):
    """Whose usage, and when: a window that ends now, or from one moment to another."""

    member = serializers.PrimaryKeyRelatedField(queryset=Member.objects.all(), required=False)
    holding = serializers.PrimaryKeyRelatedField(queryset=Holding.objects.all(), required=False)
    window = serializers.ChoiceField(choices=list(Preset), required=False)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    unit = serializers.ChoiceField(choices=list(UNITS), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        now = timezone.now()
        if ("member" in attrs) == ("holding" in attrs):
            raise serializers.ValidationError({"member": [_("Name a member or a holding, one of them.")]})
        if "since" not in attrs and "until" in attrs:
            raise serializers.ValidationError({"since": [_("Name where it begins, too.")]})
        if "since" not in attrs:
            return attrs | {"window": windows.ending(now, Preset(attrs.get("window", Preset.DAY)))}
        return attrs | {"window": self._between(attrs, min(attrs.get("until", now), now))}

    def _between(self, attrs: dict[str, Any], until: Any) -> Window:
        if attrs["since"] >= until:
            raise serializers.ValidationError({"since": [_("It has to begin before it ends, and before now.")]})
        window = windows.between(attrs["since"], until)
        unit: timedelta = UNITS.get(attrs.get("unit", ""), window.unit)
        if (until - window.since) / unit > MOST_POINTS:
            raise serializers.ValidationError({"unit": [_("These are more than 10,000 points. Choose a longer unit or a shorter time.")]})
        return Window(window.since, until, unit)


class UsageViewSet(viewsets.ViewSet):
    """How much a member forwarded over time: `?member=` or `?holding=`, and `?window=` (`day`, `week`, `month`, `year`) or `?since=`,
    `?until=` and `?unit=` (`5min`, `hour`, `day`). Octets of IP packets; `null` where no gateway was read."""

    def list(self, request: Request) -> Response:
        asked = AskedSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        given, now = asked.validated_data, timezone.now()
        window: Window = given["window"]
        span = window.since, window.until, window.unit
        points = series(given["member"], *span, now=now) if "member" in given else series_of_holding(given["holding"], *span, now=now)
        facts = {"since": window.since, "until": window.until, "unit_seconds": int(window.unit.total_seconds())}
        return Response(facts | {"points": [_shown(point) for point in points]})


def _shown(point: Point) -> dict[str, Any]:
    return {"start": point.start, "octets": point.octets and point.octets._asdict(), "lost": point.lost}
