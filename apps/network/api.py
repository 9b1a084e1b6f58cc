"""Holdings and pools in the REST API."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.fields import MomentField, PrefixText
from apps.lib.api.filter_types import NET_CONTAINS, NETWORK
from apps.lib.api.filters import Filter, build_filters
from apps.lib.api.openapi.json_schema import INTEGER, make_array, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ActiveSerializer, ApiSerializer, Reference
from apps.lib.api.unknown_fields import StrictSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet, parse_request
from apps.lib.database.validity import is_valid_now
from apps.members.models import Member
from apps.network import pool_lifecycle, services
from apps.network.models import MOST_KEPT, MOST_KEPT_FIRST, Holding, Pool
from apps.network.pool_removal import remove_pool
from apps.network.selectors import count_assigned_shares, count_member_shares, list_pools

SPLIT = make_object(pools=make_array(INTEGER))


class HoldingSerializer(ActiveSerializer):
    """Without `address`, the next free address or prefix of the pool is assigned."""

    member = Reference(queryset=Member.objects.all())
    address = PrefixText(source="prefix", required=False)
    pool_name = serializers.StringRelatedField[Any](source="pool")
    since = MomentField(source="valid.lower", read_only=True)
    until = MomentField(source="valid.upper", read_only=True, allow_null=True)

    class Meta:
        model = Holding
        fields = ["id", "member", "device", "kind", "address", "pool", "pool_name", "since", "until", "active"]
        read_only_fields = ["kind"]
        brief = ["id", "member", "address"]

    def to_representation(self, instance: Holding) -> dict[str, Any]:
        said = super().to_representation(instance)
        return said | {"address": instance.address} if "address" in said else said

    def create(self, validated_data: Mapping[str, Any]) -> Holding:
        return services.assign_address(by=self.context["request"].user, **validated_data)


class HoldingViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Addresses and prefixes that members hold now. `?address=` finds the holding that contains an address.

    Removing a holding also ends its port forwards, NAT mappings and pinholes.
    """

    queryset = Holding.objects.filter(is_valid_now()).select_related("pool").order_by("id")
    serializer_class = HoldingSerializer
    group_path = "group"
    member_path = "member"
    filters = build_filters(Holding, "member", "device", "pool", "kind", since="valid__startswith", until="valid__endswith") | {
        "address": Filter("prefix", NETWORK, exact=NET_CONTAINS)
    }

    def remove(self, row: Holding) -> None:
        services.release_holding(holding=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that


class BasePoolSerializer(ApiSerializer):
    fixed_fields = frozenset({"group", "kind", "member_length", "sharing", "block_size"})
    observed_fields = frozenset({"held"})
    prefix = PrefixText()
    member_length = serializers.IntegerField(min_value=0, max_value=128, required=False)
    sharing = serializers.ChoiceField(choices=Pool.Sharing.choices, required=False)
    kept_first = serializers.IntegerField(min_value=0, max_value=MOST_KEPT_FIRST, required=False)
    kept = serializers.ListField(child=PrefixText(), max_length=MOST_KEPT, required=False)
    size = serializers.SerializerMethodField()
    held = serializers.SerializerMethodField()
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Pool
        fields = ["id", "group", "kind", "name", "prefix", "member_length", "sharing", "block_size"]
        fields += ["kept_first", "kept", "retired", "size", "held", "version"]
        read_only_fields = ["retired"]
        validators: list[Any] = []

    def get_size(self, pool: Pool) -> int:
        """Number of shares in the pool for members, without those that are kept free; of a public pool: of addresses."""
        return count_member_shares(pool)

    def get_held(self, pool: Pool) -> int:
        """Number of shares that members hold now; of a public pool: of addresses that members leave as."""
        return int(getattr(pool, "known_held", 0))

    def create(self, validated_data: Mapping[str, Any]) -> Pool:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return services.add_pool(by=self.context["request"].user, **given)

    def update(self, instance: Pool, validated_data: Mapping[str, Any]) -> Pool:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("name", "prefix", "kept_first", "kept", "version")}
        return services.change_pool(pool=instance, by=self.context["request"].user, **given)


class PoolEnlargementSerializer(StrictSerializer):
    """prefix: the larger prefix, which contains the present one."""

    prefix = PrefixText()


class PoolSplitSerializer(StrictSerializer):
    """length: the prefix length of each part."""

    length = serializers.IntegerField(min_value=1, max_value=64)


class BasePoolViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Pools of addresses. A change takes `name`, `prefix`, `kept_first` and `kept`; everything else stays as it is."""

    serializer_class = BasePoolSerializer
    group_path = "group"
    filters = build_filters(Pool, "group", "kind", "name", "prefix", "member_length", "sharing", "block_size", "retired", "version")

    def get_queryset(self) -> QuerySet[Pool]:
        return list_pools().order_by("id")

    def remove(self, row: Pool) -> None:
        remove_pool(row)

    @declare_response(200, BasePoolSerializer)
    @action(detail=True, methods=["post"], serializer_class=PoolEnlargementSerializer)
    def enlarge(self, request: Request, pk: str = "") -> Response:
        """Enlarge the pool to a prefix that contains the present one. No member's address changes; what was kept free stays so."""
        return self._change(pool_lifecycle.enlarge_pool, **parse_request(PoolEnlargementSerializer, request))

    @declare_response(200, SPLIT)
    @action(detail=True, methods=["post"], serializer_class=PoolSplitSerializer)
    def split(self, request: Request, pk: str = "") -> Response:
        """Split the pool into parts of this prefix length. Each holding stays, in the part that contains it. `pools` are their ids, the
        pool's own first.
        """
        given, found = parse_request(PoolSplitSerializer, request), self.get_locked_object()
        made = pool_lifecycle.split_pool(pool=found, version=found.version, by=request.user, **given)  # type: ignore[arg-type]  # signed in
        self.validate_reach(made)
        return Response({"pools": [each.pk for each in made]})

    @declare_response(200, BasePoolSerializer)
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, pk: str = "") -> Response:
        """Give no more addresses of the pool. What members hold stays theirs until it ends."""
        return self._change(pool_lifecycle.retire_pool)

    @declare_response(200, BasePoolSerializer)
    @action(detail=True, methods=["post"])
    def reinstate(self, request: Request, pk: str = "") -> Response:
        """Give addresses of a retired pool again."""
        return self._change(pool_lifecycle.reinstate_pool)

    def _change(self, work: Callable[..., Pool], **given: Any) -> Response:
        found = self.get_locked_object()
        [shown] = self.prepare_rows([work(pool=found, version=found.version, by=self.request.user, **given)])
        kind = type(self).serializer_class
        return Response(kind(shown, context=self.get_serializer_context()).data)

    def prepare_rows(self, rows: Iterable[Pool]) -> list[Pool]:
        shown = list(rows)
        held = count_assigned_shares() if shown and self.shows("held") else {}
        for pool in shown:
            pool.known_held = held.get(pool.pk, 0)  # type: ignore[attr-defined]  # for the serializer alone
        return shown
