"""REST API of announcements: the same services as the pages."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.announcements import services
from apps.announcements.audience import preview_audience
from apps.announcements.models import AUDIENCE_KINDS, Announcement
from apps.announcements.selectors import DeliveryProgress, count_deliveries
from apps.announcements.services import LONGEST, LONGEST_TITLE, AnnouncementFacts
from apps.lib.api.fields import MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, make_array, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer, Reference
from apps.lib.api.unknown_fields import LINES, StrictSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet, parse_request
from apps.members.models import Site, Tariff
from apps.network.models import GatewayGroup, Pool

COLUMNS = ("title_en", "text_en", "title_de", "text_de", "shown_from", "shown_until", "by_mail")
OUTCOME = ("audience", "state", "reached", "author", "created", "published", "published_by", "withdrawn", "withdrawn_by")
PREVIEW = make_object(members=INTEGER, by_mail=INTEGER, no_address=INTEGER, unwanted=INTEGER)
PROGRESS = make_object(**{each.name: INTEGER for each in fields(DeliveryProgress)})


class PublishSerializer(StrictSerializer):
    """members: the number that `preview` told, so that nothing reaches more people than was looked at."""

    members = serializers.IntegerField(min_value=1)


class AnnouncementSerializer(ApiSerializer):
    shapes = dict.fromkeys(AUDIENCE_KINDS, make_array(INTEGER))
    observed_fields = frozenset(OUTCOME)
    title_en = serializers.CharField(max_length=LONGEST_TITLE, required=False, allow_blank=True, default="")
    text_en = serializers.CharField(max_length=LONGEST, required=False, allow_blank=True, default="", style=LINES)
    title_de = serializers.CharField(max_length=LONGEST_TITLE, required=False, allow_blank=True, default="")
    text_de = serializers.CharField(max_length=LONGEST, required=False, allow_blank=True, default="", style=LINES)
    sites = Reference(queryset=Site.objects.all(), many=True, required=False)
    pools = Reference(queryset=Pool.objects.all(), many=True, required=False)
    groups = Reference(queryset=GatewayGroup.objects.all(), many=True, required=False)
    tariffs = Reference(queryset=Tariff.objects.all(), many=True, required=False)
    shown_from = MomentField(required=False, allow_null=True, default=None)
    shown_until = MomentField()
    by_mail = serializers.BooleanField(required=False, default=True)
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Announcement
        fields = ["id", *COLUMNS, *AUDIENCE_KINDS, *OUTCOME, "version"]
        read_only_fields = list(OUTCOME)
        brief = ["id", "title_en", "title_de", "state"]
        validators: list[Any] = []  # the service validates

    def create(self, validated_data: Mapping[str, Any]) -> Announcement:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        made = services.draft_announcement(facts=AnnouncementFacts(**given), by=self.context["request"].user)
        made.refresh_from_db()
        return made

    def update(self, instance: Announcement, validated_data: Mapping[str, Any]) -> Announcement:
        known = {name: getattr(instance, name) for name in COLUMNS} | {kind: list(getattr(instance, kind).all()) for kind in AUDIENCE_KINDS}
        given, version = dict(validated_data), validated_data.get("version", instance.version)
        given.pop("version", None)
        facts = AnnouncementFacts(**(known | given))
        return services.change_draft(announcement=instance, version=version, facts=facts, by=self.context["request"].user)


class AnnouncementViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Announcements to members. A new one is a draft; only drafts are changed or removed. Without sites, pools, groups and tariffs it is
    for all active members; otherwise for those who fit one of the named of each kind.
    """

    serializer_class = AnnouncementSerializer
    queryset = Announcement.objects.prefetch_related(*AUDIENCE_KINDS).order_by("id")
    filters = build_filters(Announcement, "state", "by_mail", "author", "created", "published", "shown_from", "shown_until", "version")

    @declare_response(200, PREVIEW)
    @action(detail=True)
    def preview(self, request: Request, pk: str = "") -> Response:
        """Count the members whom it would reach now, and the mails."""
        found = preview_audience(self.get_object())
        return Response({name: getattr(found, name) for name in ("members", "by_mail", "no_address", "unwanted")})

    @declare_response(200, PROGRESS)
    @action(detail=True)
    def progress(self, request: Request, pk: str = "") -> Response:
        """Count the members whom it reached, and how far the mails are."""
        return Response(asdict(count_deliveries(self.get_object())))

    @action(detail=True, methods=["post"], serializer_class=PublishSerializer)
    def publish(self, request: Request, pk: str = "") -> Response:
        """Publish a draft. 409 if it would reach another number of members than `members`, or was published already."""
        row, asked = self.get_locked_object(), parse_request(PublishSerializer, request)
        services.publish_announcement(announcement=row, version=row.version, members=asked["members"], by=self._get_writer())
        return self._render_row(row.pk)

    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str = "") -> Response:
        """Take it from the members' pages, and stop the mails that were not sent yet."""
        row = self.get_locked_object()
        services.withdraw_announcement(announcement=row, by=self._get_writer())
        return self._render_row(row.pk)

    def remove(self, row: Announcement) -> None:
        services.remove_draft(announcement=row, by=self._get_writer())

    def _get_writer(self) -> Any:
        """Return the user of the token or the session."""
        return self.request.user

    def _render_row(self, pk: int) -> Response:
        """Return the response with the announcement as it is now, in its own serializer instead of the action's."""
        shown = AnnouncementSerializer(self.get_queryset().get(pk=pk), context=self.get_serializer_context())
        return Response(shown.data)
