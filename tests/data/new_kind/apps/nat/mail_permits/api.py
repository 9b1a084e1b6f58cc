"""REST API of mail permits."""

from collections.abc import Mapping
from typing import Any

from apps.nat.mail_permits import services
from apps.nat.mail_permits.models import MailPermit
from django.db.models import QuerySet

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ActiveSerializer, Reference
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.lib.database.validity import is_valid_now
from apps.network.models import Holding


class MailPermitSerializer(ActiveSerializer):
    holding = Reference(queryset=Holding.objects.filter(is_valid_now()))
    member = Reference(source="holding.member", read_only=True)

    class Meta:
        model = MailPermit
        fields = ["id", "member", "holding", "active"]
        brief = ["id", "holding"]

    def create(self, validated_data: Mapping[str, Any]) -> MailPermit:
        return services.grant_permit(by=self.context["request"].user, **validated_data)


class MailPermitViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Addresses from which members may send mail to other networks' servers."""

    serializer_class = MailPermitSerializer
    group_path = "holding__group"
    member_path = "holding__member"
    filters = build_filters(MailPermit, "holding", member="holding__member")

    def get_queryset(self) -> QuerySet[MailPermit]:
        return MailPermit.objects.select_related("holding__member").order_by("id")

    def remove(self, row: MailPermit) -> None:
        services.withdraw_permit(permit=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checks that
