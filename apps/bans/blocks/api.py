"""Blocks of members in the REST API."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from apps.bans.api_mixins import VersionedSerializer
from apps.bans.blocks import services as blocking
from apps.bans.blocks.models import Block
from apps.lib.api.fields import MomentField
from apps.lib.api.filter_types import TRUTH
from apps.lib.api.filters import CustomFilter, build_filters
from apps.lib.api.unknown_fields import LINES
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now


class BlockSerializer(VersionedSerializer):
    fixed_fields = frozenset({"member"})
    since = MomentField(source="valid.lower", read_only=True)
    until = MomentField(source="valid.upper", allow_null=True, required=False, default=None)

    class Meta:
        model = Block
        fields = ["id", "member", "reason", "message", "note", "since", "until", "author", "lifted_by", "active", "version"]
        read_only_fields = ["author", "lifted_by"]
        brief = ["id", "member", "reason"]
        extra_kwargs = {"message": {"style": LINES}}

    def create(self, validated_data: Mapping[str, Any]) -> Block:
        given = _to_service_args(validated_data)
        given.pop("version", None)
        return blocking.block_member(by=self.context["request"].user, **given)

    def update(self, instance: Block, validated_data: Mapping[str, Any]) -> Block:
        given: dict[str, Any] = {name: getattr(instance, name) for name in ("reason", "message", "note")}
        given |= {"until": instance.valid.upper} | _to_service_args(validated_data)
        given.pop("member", None)
        version = given.pop("version", instance.version)
        return blocking.change_block(block=instance, version=version, by=self.context["request"].user, **given)


def _to_service_args(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for the services."""
    ends = {"until": given["valid"]["upper"]} if "valid" in given else {}
    return {key: value for key, value in given.items() if key != "valid"} | ends


class BlockViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Blocks of members that are in force; with `all`, also past ones. DELETE ends a block. `member` cannot be changed."""

    serializer_class = BlockSerializer
    member_path = "member"
    filters = build_filters(
        Block, "member", "reason", "author", "lifted_by", "version", since="valid__startswith", until="valid__endswith"
    ) | {"all": CustomFilter(TRUTH, None, "also those that are over")}

    def get_queryset(self) -> QuerySet[Block]:
        rows = Block.objects.order_by("id")
        return rows if self.request.query_params.get("all") in ("1", "true") else rows.filter(is_valid_now())

    def remove(self, row: Block) -> None:
        blocking.lift_block(block=row, by=self.request.user)  # type: ignore[arg-type]  # RolePermission: signed in

    def remove_many(self, rows: Sequence[Block]) -> None:
        blocking.lift_blocks(blocks=[row.pk for row in rows], by=self.request.user)  # type: ignore[arg-type]  # likewise
