"""Who holds which address, in the REST API."""

import django_filters
from django.db.models import Model, QuerySet
from rest_framework import serializers, viewsets

from apps.lib.validity import holds_now
from apps.network.forms import AddressInput
from apps.network.models import Holding


class HoldingSerializer(serializers.ModelSerializer[Holding]):
    address = serializers.CharField(read_only=True)
    pool = serializers.StringRelatedField[Model]()
    since = serializers.SerializerMethodField()
    until = serializers.SerializerMethodField()

    class Meta:
        model = Holding
        fields = ["id", "member", "device", "kind", "address", "pool", "since", "until"]

    def get_since(self, holding: Holding) -> object:
        return holding.valid.lower

    def get_until(self, holding: Holding) -> object:
        return holding.valid.upper


class AddressFilter(django_filters.Filter):
    """What is no address is refused."""

    field_class = AddressInput


class HoldingFilter(django_filters.FilterSet):
    address = AddressFilter(field_name="prefix", lookup_expr="covers", label="an address in it")

    class Meta:
        model = Holding
        fields = ["member", "kind"]


class HoldingViewSet(viewsets.ReadOnlyModelViewSet[Holding]):
    """Addresses and prefixes that members hold now; `?member=`, `?kind=`, `?address=`."""

    serializer_class = HoldingSerializer
    filterset_class = HoldingFilter

    def get_queryset(self) -> QuerySet[Holding]:
        return Holding.objects.filter(holds_now()).select_related("pool").order_by("id")
