"""What the REST API's objects that reach gateways share: since when each gateway has one."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers, viewsets

from apps.lib.activation import Activation, activations
from apps.lib.models import Deployed


class ActiveSerializer(serializers.ModelSerializer[Any]):
    """Says since when each gateway has the row as it is."""

    active = serializers.SerializerMethodField()

    def get_active(self, row: Deployed) -> list[dict[str, object]]:
        """Since when each gateway has it as it is now; null while it has not, and then why."""
        known: list[Activation] = getattr(row, "known_activations", [])
        return [{"gateway": each.gateway, "since": each.since, "waits": each.waits.words if each.waits else ""} for each in known]


def with_activations[Row: Deployed](rows: Iterable[Row]) -> list[Row]:
    """The rows, each with what ActiveSerializer says of it, in a constant number of queries."""
    shown = list(rows)
    for row, known in activations(shown):
        row.known_activations = known  # type: ignore[attr-defined]  # for the serializer alone
    return shown


class ActiveRows(viewsets.GenericViewSet[Any]):
    """A view set of an ActiveSerializer; DRF's mixins add what it can do."""

    def get_object(self) -> Any:
        return with_activations([super().get_object()])[0]

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page and with_activations(page)
