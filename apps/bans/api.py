"""Ban lists, bans, the allow list and feeds in the REST API: the same services as the pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.bans import allowing, coverage, feeding, services
from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Direction
from apps.bans.selectors import Hits, find, hits_of
from apps.lib.serving import ActiveRows, ActiveSerializer, with_activations


class BanListSerializer(serializers.ModelSerializer[BanList]):
    version = serializers.IntegerField(required=False)

    class Meta:
        model = BanList
        fields = ["id", "name", "description", "enabled", "version"]

    def create(self, validated_data: Mapping[str, Any]) -> BanList:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return services.create_list(**given, by=self.context["request"].user)

    def update(self, instance: BanList, validated_data: Mapping[str, Any]) -> BanList:
        names = ("name", "description", "enabled", "version")
        given = {name: validated_data.get(name, getattr(instance, name)) for name in names}
        return services.change_list(list=instance, **given, by=self.context["request"].user)


class BanListViewSet(viewsets.ModelViewSet[BanList]):
    """Ban lists. Deleting one deletes its bans."""

    serializer_class = BanListSerializer
    queryset = BanList.objects.order_by("name")

    def perform_destroy(self, instance: BanList) -> None:
        services.delete_list(list=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in


class BanSerializer(ActiveSerializer):
    prefix = serializers.CharField(source="shown", max_length=80)
    ends = serializers.DateTimeField(source="expires", required=False, allow_null=True)
    since = serializers.DateTimeField(source="created", read_only=True)
    direction = serializers.ChoiceField(choices=Direction.choices, required=False)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=200)
    version = serializers.IntegerField(required=False)
    hits = serializers.SerializerMethodField()

    class Meta:
        model = Ban
        fields = ["id", "list", "prefix", "direction", "comment", "author", "since", "ends", "hits", "active", "version"]
        read_only_fields = ["author"]

    def get_hits(self, ban: Ban) -> dict[str, object]:
        """What it kept out, over all gateways."""
        known: Hits = getattr(ban, "known_hits", Hits())
        return {"packets": known.packets, "octets": known.octets, "last": known.last}

    def create(self, validated_data: Mapping[str, Any]) -> Ban:
        given = {name: value for name, value in validated_data.items() if name not in ("shown", "version")}
        return _bans([services.ban(prefix=validated_data["shown"], author=self.context["request"].user, **given)])[0]

    def update(self, instance: Ban, validated_data: Mapping[str, Any]) -> Ban:
        names = ("comment", "expires", "direction", "version")
        given = {name: validated_data.get(name, getattr(instance, name)) for name in names}
        return _bans([services.change_ban(ban=instance, by=self.context["request"].user, **given)])[0]


def _bans(rows: Iterable[Ban]) -> list[Ban]:
    found = with_activations(rows)
    hits = hits_of(found)
    for ban in found:
        ban.known_hits = hits.get(ban.prefix, Hits())  # type: ignore[attr-defined]  # for the serializer alone
    return found


class BanViewSet(viewsets.ModelViewSet[Ban]):
    """Bans; `?list=`, `?direction=`, `?search=` an address, a prefix or words. `covering/?address=`: which ban covers it."""

    serializer_class = BanSerializer
    filterset_fields = ["list", "direction"]
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def get_queryset(self) -> QuerySet[Ban]:
        return find(Ban.objects.all(), self.request.query_params.get("search", "")).order_by("id")

    def get_object(self) -> Ban:
        return _bans([super().get_object()])[0]

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page and _bans(page)

    def perform_destroy(self, instance: Ban) -> None:
        services.lift(ban=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in

    @action(detail=False)
    def covering(self, request: Request) -> Response:
        """All bans and allow entries that cover an address or prefix, and which one decides."""
        found = coverage.coverage(services.readable(request.query_params.get("address", ""), ours=True))
        ways = (("in", found.incoming), ("out", found.outgoing))
        bans = BanSerializer(_bans(found.bans), many=True, context=self.get_serializer_context()).data
        allowed = AllowEntrySerializer(with_activations(found.allowed), many=True, context=self.get_serializer_context()).data
        body = {"prefix": str(found.prefix), "bans": bans, "allowed": allowed}
        within = {"bans": found.bans_within, "allowed": found.allowed_within}
        return Response(body | {"within": within, "decides": {way: _decision(by) for way, by in ways}})


def _decision(by: Ban | AllowEntry | None) -> dict[str, object] | None:
    return {"ban" if isinstance(by, Ban) else "allowed": by.pk, "prefix": by.shown} if by else None


class AllowEntrySerializer(ActiveSerializer):
    prefix = serializers.CharField(source="shown", max_length=80)
    ends = serializers.DateTimeField(source="expires", required=False, allow_null=True)
    since = serializers.DateTimeField(source="created", read_only=True)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=200)
    version = serializers.IntegerField(required=False)

    class Meta:
        model = AllowEntry
        fields = ["id", "prefix", "comment", "author", "since", "ends", "active", "version"]
        read_only_fields = ["author"]

    def create(self, validated_data: Mapping[str, Any]) -> AllowEntry:
        given = {name: value for name, value in validated_data.items() if name not in ("shown", "version")}
        return allowing.allow(prefix=validated_data["shown"], author=self.context["request"].user, **given)

    def update(self, instance: AllowEntry, validated_data: Mapping[str, Any]) -> AllowEntry:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("comment", "expires", "version")}
        return allowing.change(entry=instance, by=self.context["request"].user, **given)


class AllowEntryViewSet(ActiveRows, viewsets.ModelViewSet[Any]):
    """What no ban concerns."""

    serializer_class = AllowEntrySerializer
    queryset = AllowEntry.objects.order_by("id")
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def perform_destroy(self, instance: AllowEntry) -> None:
        allowing.remove(entry=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in


class FeedSerializer(serializers.ModelSerializer[BanFeed]):
    version = serializers.IntegerField(required=False)
    error = serializers.CharField(source="why", read_only=True)
    held = serializers.SerializerMethodField()

    class Meta:
        model = BanFeed
        own = ["list", "source", "interval", "direction", "minimum_count", "comment", "shrink_limit", "enabled"]
        state = ["phase", "due", "checked", "refreshed", "outcome", "error", "error_since", "held"]
        fields = ["id", *own, *state, "version"]
        read_only_fields = state

    def get_held(self, feed: BanFeed) -> dict[str, object] | None:
        """What waits for a person."""
        return {"since": feed.held_since, "removed": feed.held_removed, "of": feed.held_of} if feed.held_since else None

    def create(self, validated_data: Mapping[str, Any]) -> BanFeed:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return feeding.subscribe(**given, by=self.context["request"].user)

    def update(self, instance: BanFeed, validated_data: Mapping[str, Any]) -> BanFeed:
        kept: dict[str, Any] = {"source": instance.source, "version": instance.version}
        given = {name: value for name, value in validated_data.items() if name != "list"}
        return feeding.change_feed(feed=instance, by=self.context["request"].user, **(kept | given))


class FeedViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[BanFeed],
):
    """Where lists get their bans from. `refresh/` looks now."""

    serializer_class = FeedSerializer
    queryset = BanFeed.objects.defer("held").order_by("id")
    filterset_fields = ["list", "enabled"]
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def perform_destroy(self, instance: BanFeed) -> None:
        feeding.unsubscribe(feed=instance)

    @action(detail=True, methods=["post"])
    def refresh(self, request: Request, pk: str | None = None) -> Response:
        """Ask for a refresh; the feed says when it is done."""
        feed = self.get_object()
        feeding.ask(feed=feed, by=request.user)  # type: ignore[arg-type]  # IsStaff: signed in
        feed.refresh_from_db()
        return Response(self.get_serializer(feed).data, status=status.HTTP_202_ACCEPTED)
