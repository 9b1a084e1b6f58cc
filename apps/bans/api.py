"""Ban lists, bans, the allow list and feeds in the REST API, with the same services as the pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.bans import allow_list, bans_bulk, coverage, feed_services, services
from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Direction
from apps.bans.selectors import Hits, map_hits, search_bans
from apps.lib.api.fields import MomentField
from apps.lib.api.filter_types import TEXT
from apps.lib.api.filters import CustomFilter, build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TIME, Shape, make_mapping, make_nullable, make_object
from apps.lib.api.openapi.json_schema import TEXT as WORDS
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ActiveSerializer, ApiSerializer, attach_activations
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet


class BanListSerializer(ActiveSerializer):
    version = serializers.IntegerField(required=False)

    class Meta:
        model = BanList
        fields = ["id", "name", "description", "enabled", "active", "version"]

    def create(self, validated_data: Mapping[str, Any]) -> BanList:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return services.create_list(**given, by=self.context["request"].user)

    def update(self, instance: BanList, validated_data: Mapping[str, Any]) -> BanList:
        names = ("name", "description", "enabled", "version")
        given = {name: validated_data.get(name, getattr(instance, name)) for name in names}
        return services.change_list(list=instance, **given, by=self.context["request"].user)


class BanListViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Ban lists. Deleting one deletes its bans."""

    serializer_class = BanListSerializer
    queryset = BanList.objects.order_by("name", "id")
    filters = build_filters(BanList, "name", "description", "enabled", "version")

    def remove(self, row: BanList) -> None:
        services.delete_list(list=row, by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in


HIT_COUNTERS: Shape = make_object(packets=INTEGER, octets=INTEGER, last=make_nullable(TIME))
PENDING_IMPORT: Shape = make_nullable(make_object(since=TIME, removed=INTEGER, of=INTEGER))


class BanSerializer(ActiveSerializer):
    shapes = {"hits": HIT_COUNTERS}
    fixed_fields = frozenset({"list", "prefix"})
    observed_fields = frozenset({"hits"})
    renamed_fields = {"ends": "until"}
    prefix = serializers.CharField(source="prefix_text", max_length=80)
    until = MomentField(source="expires", required=False, allow_null=True)
    since = MomentField(source="created", read_only=True)
    direction = serializers.ChoiceField(choices=Direction.choices, required=False)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=200)
    version = serializers.IntegerField(required=False)
    hits = serializers.SerializerMethodField()

    class Meta:
        model = Ban
        fields = ["id", "list", "prefix", "direction", "comment", "author", "since", "until", "hits", "active", "version"]
        brief = ["id", "list", "prefix", "direction"]
        read_only_fields = ["author"]

    def get_hits(self, ban: Ban) -> dict[str, object]:
        """Packets and octets that the ban kept out, over all gateways, and the time of the last hit."""
        known: Hits = getattr(ban, "known_hits", Hits())
        return {"packets": known.packets, "octets": known.octets, "last": known.last}

    def create(self, validated_data: Mapping[str, Any]) -> Ban:
        return services.ban_prefix(author=self.context["request"].user, **_to_service_args(validated_data))

    def create_many(self, items: Sequence[dict[str, Any]]) -> list[Ban]:
        wanted = [bans_bulk.BanDraft(**_to_service_args(item)) for item in items]
        return bans_bulk.ban_prefixes(wanted=wanted, author=self.context["request"].user)

    def update(self, instance: Ban, validated_data: Mapping[str, Any]) -> Ban:
        return services.change_ban(ban=instance, by=self.context["request"].user, **_build_change(instance, validated_data))

    def update_many(self, changes: Sequence[tuple[Ban, dict[str, Any]]]) -> list[Ban]:
        wanted = [bans_bulk.BanChange(ban=ban, **_build_change(ban, item)) for ban, item in changes]
        return bans_bulk.change_bans(wanted=wanted, by=self.context["request"].user)


def _to_service_args(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for the services."""
    return {"prefix" if name == "prefix_text" else name: value for name, value in item.items()}


def _build_change(ban: Ban, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the wanted state of the ban: fields that are not given stay as they are."""
    return {name: item.get(name, getattr(ban, name)) for name in ("comment", "expires", "direction", "version")}


def _attach_hits(bans: list[Ban]) -> list[Ban]:
    """Attach the hits to each ban, in a constant number of queries, and return the bans."""
    hits = map_hits(bans)
    for ban in bans:
        ban.known_hits = hits.get(ban.prefix, Hits())  # type: ignore[attr-defined]  # only for the serializer
    return bans


class AllowEntrySerializer(ActiveSerializer):
    fixed_fields = frozenset({"prefix"})
    renamed_fields = {"ends": "until"}
    prefix = serializers.CharField(source="prefix_text", max_length=80)
    until = MomentField(source="expires", required=False, allow_null=True)
    since = MomentField(source="created", read_only=True)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=200)
    version = serializers.IntegerField(required=False)

    class Meta:
        model = AllowEntry
        fields = ["id", "prefix", "comment", "author", "since", "until", "active", "version"]
        read_only_fields = ["author"]

    def create(self, validated_data: Mapping[str, Any]) -> AllowEntry:
        return allow_list.allow_prefix(author=self.context["request"].user, **_to_service_args(validated_data))

    def update(self, instance: AllowEntry, validated_data: Mapping[str, Any]) -> AllowEntry:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("comment", "expires", "version")}
        return allow_list.change_entry(entry=instance, by=self.context["request"].user, **given)


DECIDING_ENTRY: Shape = {
    "type": ["object", "null"],
    "properties": {"ban": INTEGER, "allowed": INTEGER, "prefix": WORDS},
    "required": ["prefix"],
}


class CoveringSerializer(serializers.Serializer[Any]):
    """The bans and allow entries that cover a prefix, the number of those within it, and the one that decides in each direction."""

    shapes = {
        "within": make_object(bans=INTEGER, allowed=INTEGER),
        "decides": make_object(**{"in": DECIDING_ENTRY, "out": DECIDING_ENTRY}),
    }
    prefix = serializers.CharField()
    bans = BanSerializer(many=True)
    allowed = AllowEntrySerializer(many=True)
    within = serializers.JSONField()
    decides = serializers.JSONField()


class BanViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Bans. `covering/?address=` finds the bans that cover an address. DELETE lifts a ban. `list` and `prefix` cannot be changed."""

    queryset = Ban.objects.order_by("id")
    serializer_class = BanSerializer
    filters = build_filters(Ban, "list", "prefix", "direction", "comment", "author", "version", since="created", until="expires") | {
        "search": CustomFilter(TEXT, search_bans, "an address or prefix that they cover or lie in, or words of the comment")
    }
    http_method_names = ["get", "post", "patch", "delete", "head"]

    def prepare_rows(self, rows: Iterable[Ban]) -> list[Ban]:
        shown: list[Ban] = super().prepare_rows(rows)
        return _attach_hits(shown) if self.shows("hits") else shown

    def remove(self, row: Ban) -> None:
        self.remove_many([row])

    def remove_many(self, rows: Sequence[Ban]) -> None:
        services.lift_bans(bans=[row.pk for row in rows], by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in

    @declare_response(200, CoveringSerializer, address="an address or prefix")
    @action(detail=False)
    def covering(self, request: Request) -> Response:
        """All bans and allow entries that cover an address or prefix, and the one that decides in each direction."""
        found = coverage.get_coverage(services.validate_prefix(request.query_params.get("address", ""), ours=True))
        ways = (("in", found.incoming_deciding_entry), ("out", found.outgoing_deciding_entry))
        bans = BanSerializer(_attach_hits(attach_activations(found.bans)), many=True, context=self.get_serializer_context()).data
        allowed = AllowEntrySerializer(attach_activations(found.allowed), many=True, context=self.get_serializer_context()).data
        body = {"prefix": str(found.prefix), "bans": bans, "allowed": allowed}
        within = {"bans": found.bans_within, "allowed": found.allowed_within}
        return Response(body | {"within": within, "decides": {way: _render_decision(by) for way, by in ways}})


def _render_decision(by: Ban | AllowEntry | None) -> dict[str, object] | None:
    return {"ban" if isinstance(by, Ban) else "allowed": by.pk, "prefix": by.prefix_text} if by else None


class AllowEntryViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Allow entries: prefixes that no ban affects. `prefix` cannot be changed."""

    serializer_class = AllowEntrySerializer
    queryset = AllowEntry.objects.order_by("id")
    filters = build_filters(AllowEntry, "prefix", "comment", "author", "version", since="created", until="expires")
    http_method_names = ["get", "post", "patch", "delete", "head"]

    def remove(self, row: AllowEntry) -> None:
        allow_list.remove_entry(entry=row, by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in


class FeedSerializer(ApiSerializer):
    shapes = {"held": PENDING_IMPORT, "outcome": make_mapping(INTEGER)}
    fixed_fields = frozenset({"list"})
    observed_fields = frozenset({"phase", "due", "checked", "refreshed", "outcome", "error", "error_since", "held"})
    version = serializers.IntegerField(required=False)
    error = serializers.CharField(source="error_text", read_only=True)
    held = serializers.SerializerMethodField()

    class Meta:
        model = BanFeed
        own = ["list", "source", "interval", "direction", "minimum_count", "comment", "shrink_limit", "enabled"]
        state = ["phase", "due", "checked", "refreshed", "outcome", "error", "error_since", "held"]
        fields = ["id", *own, *state, "version"]
        brief = ["id", "list", "source"]
        read_only_fields = state

    def get_held(self, feed: BanFeed) -> dict[str, object] | None:
        """An import that is held back because it would lift too many bans: `removed` out of `of`, waiting `since`; null without one."""
        return {"since": feed.held_since, "removed": feed.held_removed, "of": feed.held_of} if feed.held_since else None

    def create(self, validated_data: Mapping[str, Any]) -> BanFeed:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return feed_services.add_feed(**given, by=self.context["request"].user)

    def update(self, instance: BanFeed, validated_data: Mapping[str, Any]) -> BanFeed:
        kept: dict[str, Any] = {"source": instance.source, "version": instance.version}
        given = {name: value for name, value in validated_data.items() if name != "list"}
        return feed_services.change_feed(feed=instance, by=self.context["request"].user, **(kept | given))


class FeedViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Feeds that fill ban lists. `refresh/` starts a refresh now. `list` cannot be changed."""

    serializer_class = FeedSerializer
    queryset = BanFeed.objects.defer("held").order_by("id")
    filters = build_filters(
        BanFeed, "list", "source", "interval", "direction", "enabled", "phase", "due", "checked", "refreshed", "version"
    )
    http_method_names = ["get", "post", "patch", "delete", "head"]

    def remove(self, row: BanFeed) -> None:
        feed_services.remove_feed(feed=row)

    @declare_response(202, FeedSerializer)
    @action(detail=True, methods=["post"])
    def refresh(self, request: Request, pk: str | None = None) -> Response:
        """Request a refresh. The answer does not wait for it: `phase` and `checked` of the feed show when it is done."""
        feed_services.request_refresh(feed=self.get_object(), by=request.user)  # type: ignore[arg-type]  # RolePermission: signed in
        return self.respond_with(self.get_object(), status.HTTP_202_ACCEPTED)
