"""Member blocks in the REST API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from apps.bans.blocks import services as blocking
from apps.bans.blocks.models import Block
from apps.bans.serving import ChangeableSerializer, RowsViewSet
from apps.lib.serving import with_activations
from apps.lib.validity import holds_now


class BlockSerializer(ChangeableSerializer):
    since = serializers.DateTimeField(source="valid.lower", read_only=True)
    until = serializers.DateTimeField(source="valid.upper", allow_null=True, required=False, default=None)

    class Meta:
        model = Block
        fields = ["id", "member", "reason", "message", "note", "since", "until", "author", "lifted_by", "active", "version"]
        read_only_fields = ["author", "lifted_by"]

    def create(self, validated_data: Mapping[str, Any]) -> Block:
        given = _block(validated_data)
        given.pop("version", None)
        return with_activations([blocking.block(by=self.context["request"].user, **given)])[0]

    def update(self, instance: Block, validated_data: Mapping[str, Any]) -> Block:
        given: dict[str, Any] = {name: getattr(instance, name) for name in ("reason", "message", "note")}
        given |= {"until": instance.valid.upper} | _block(validated_data)
        given.pop("member", None)
        version = given.pop("version", instance.version)
        return with_activations([blocking.change_block(block=instance, version=version, by=self.context["request"].user, **given)])[0]


def _block(given: Mapping[str, Any]) -> dict[str, Any]:
    """As the services take it."""
    ends = {"until": given["valid"]["upper"]} if "valid" in given else {}
    return {key: value for key, value in given.items() if key != "valid"} | ends


class BlockViewSet(RowsViewSet):
    """Blocks; those that hold now, or with `?all=1` all; `?member=`, `?reason=`."""

    serializer_class = BlockSerializer
    filterset_fields = ["member", "reason"]

    def get_queryset(self) -> QuerySet[Block]:
        rows = Block.objects.order_by("id")
        return rows if self.request.query_params.get("all") == "1" else rows.filter(holds_now())

    def perform_destroy(self, instance: Block) -> None:
        blocking.lift(block=instance, by=self.request.user)  # type: ignore[arg-type]  # IsStaff: signed in
