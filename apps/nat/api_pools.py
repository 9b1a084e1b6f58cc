"""Pools in the REST API, with the NAT data of public ones: how many addresses are in use, and how members share them."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from apps.nat.pool_sharing import change_sharing
from apps.nat.selectors import count_public_by_pool
from apps.network import api
from apps.network.models import Pool


class PoolSerializer(api.BasePoolSerializer):
    fixed_fields = api.BasePoolSerializer.fixed_fields - {"sharing", "block_size"}

    class Meta(api.BasePoolSerializer.Meta):
        pass

    @transaction.atomic
    def update(self, instance: Pool, validated_data: Mapping[str, Any]) -> Pool:
        """Change the pool itself and its sharing: both or neither."""
        sharing = validated_data.get("sharing", instance.sharing)
        kept = instance.block_size if sharing == instance.sharing else None
        size = validated_data.get("block_size", kept)
        changed = super().update(instance, validated_data)
        change_sharing(pool=changed, sharing=sharing, block_size=size, by=self.context["request"].user)
        changed.refresh_from_db()
        return changed


class PoolViewSet(api.BasePoolViewSet):
    """Pools of addresses. A change takes `name`, `prefix`, `kept_first` and `kept`, and for public pools `sharing` and `block_size`,
    which apply to all members who leave from the pool. Only a pool that no member holds or held anything of can be removed.
    """

    serializer_class = PoolSerializer

    def prepare_rows(self, rows: Iterable[Pool]) -> list[Pool]:
        shown = super().prepare_rows(rows)
        if self.shows("held"):
            used = count_public_by_pool()
            for pool in shown:
                if pool.kind == Pool.Kind.PUBLIC4:
                    pool.known_held = used.get(pool.pk, 0)  # type: ignore[attr-defined]  # for the serializer alone
        return shown
