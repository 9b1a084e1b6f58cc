"""Member blocks and listeners in the REST API."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import mixins, serializers, viewsets

from apps.bans.blocks import services as blocking
from apps.bans.blocks.models import Block
from apps.bans.listeners import services as listening
from apps.bans.listeners.models import Listener
from apps.lib.activation import Activation, activations
from apps.lib.models import Deployed
from apps.lib.validity import holds_now


class _Active(serializers.ModelSerializer[Any]):
    """Says since when each gateway has the row as it is."""

    active = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False, min_value=1)

    def get_active(self, row: Deployed) -> list[dict[str, object]]:
        """Since when each gateway has it as it is now; null while it has not, and then why."""
        known: list[Activation] = getattr(row, "known_activations", [])
        return [{"gateway": each.gateway, "since": each.since, "waits": each.waits.words if each.waits else ""} for each in known]


class BlockSerializer(_Active):
    since = serializers.DateTimeField(source="valid.lower", read_only=True)
    until = serializers.DateTimeField(source="valid.upper", allow_null=True, required=False, default=None)

    class Meta:
        model = Block
        fields = ["id", "member", "reason", "message", "note", "since", "until", "author", "lifted_by", "active", "version"]
        read_only_fields = ["author", "lifted_by"]

    def create(self, validated_data: Mapping[str, Any]) -> Block:
        given = _block(validated_data)
        given.pop("version", None)
        return _with_activations([blocking.block(by=self.context["request"].user, **given)])[0]

    def update(self, instance: Block, validated_data: Mapping[str, Any]) -> Block:
        given: dict[str, Any] = {name: getattr(instance, name) for name in ("reason", "message", "note")}
        given |= {"until": instance.valid.upper} | _block(validated_data)
        given.pop("member", None)
        version = given.pop("version", instance.version)
        return _with_activations([blocking.change_block(block=instance, version=version, by=self.context["request"].user, **given)])[0]


def _block(given: Mapping[str, Any]) -> dict[str, Any]:
    """As the services take it."""
    ends = {"until": given["valid"]["upper"]} if "valid" in given else {}
    return {key: value for key, value in given.items() if key != "valid"} | ends


class ListenerSerializer(_Active):
    address = serializers.IPAddressField()

    class Meta:
        model = Listener
        fields = ["id", "group", "name", "address", "protocol", "port", "enabled", "note", "active", "version"]
        validators: list[Any] = []  # the service names who is there

    def create(self, validated_data: Mapping[str, Any]) -> Listener:
        given = {key: value for key, value in validated_data.items() if key not in ("enabled", "version")}
        return _with_activations([listening.add_listener(by=self.context["request"].user, **given)])[0]

    def update(self, instance: Listener, validated_data: Mapping[str, Any]) -> Listener:
        given: dict[str, Any] = {name: getattr(instance, name) for name in ("name", "address", "protocol", "port", "enabled", "note")}
        given |= {key: value for key, value in validated_data.items() if key != "group"}
        version = given.pop("version", instance.version)
        return _with_activations([listening.change_listener(listener=instance, version=version, by=self.context["request"].user, **given)])[
            0
        ]


def _with_activations[Row: Deployed](rows: Iterable[Row]) -> list[Row]:
    shown = list(rows)
    for row, known in activations(shown):
        row.known_activations = known  # type: ignore[attr-defined]  # for the serializer alone
    return shown


class _Rows(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Any],
):
    def get_object(self) -> Any:
        return _with_activations([super().get_object()])[0]

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page and _with_activations(page)


class BlockViewSet(_Rows):
    """Blocks; those that hold now, or with `?all=1` all; `?member=`, `?reason=`."""

    serializer_class = BlockSerializer
    filterset_fields = ["member", "reason"]

    def get_queryset(self) -> QuerySet[Block]:
        rows = Block.objects.order_by("id")
        return rows if self.request.query_params.get("all") == "1" else rows.filter(holds_now())

    def perform_destroy(self, instance: Block) -> None:
        blocking.lift(block=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in


class ListenerViewSet(_Rows):
    """Listeners; `?group=`, `?protocol=`, `?port=`, `?enabled=`."""

    serializer_class = ListenerSerializer
    filterset_fields = ["group", "protocol", "port", "enabled"]

    def get_queryset(self) -> QuerySet[Listener]:
        return Listener.objects.order_by("id")

    def perform_destroy(self, instance: Listener) -> None:
        listening.remove_listener(listener=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
