"""Members in the REST API."""

from django.db.models import Model, QuerySet
from rest_framework import serializers, viewsets

from apps.members.models import Member
from apps.members.selectors import search


class MemberSerializer(serializers.ModelSerializer[Member]):
    tariff = serializers.StringRelatedField[Model]()
    room = serializers.StringRelatedField[Model]()

    class Meta:
        model = Member
        fields = ["id", "number", "name", "email", "language", "state", "tariff", "room", "since", "paid_until", "version"]


class MemberViewSet(viewsets.ReadOnlyModelViewSet[Member]):
    """Members; `?search=` looks in name, number, room, address and MAC."""

    serializer_class = MemberSerializer

    def get_queryset(self) -> QuerySet[Member]:
        members = Member.objects.select_related("tariff", "room__site").order_by("name", "id")
        return search(members, self.request.query_params.get("search", ""))
