"""REST API of invitations that connect a member with an account."""

from collections.abc import Mapping
from typing import Any

from apps.lib.api.filters import build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet, RemoveViewSet
from apps.members import invitation_services
from apps.members.models import MemberInvitation


class MemberInvitationSerializer(ApiSerializer):
    class Meta:
        model = MemberInvitation
        fields = ["id", "member", "by", "made", "expires", "taken", "withdrawn"]
        read_only_fields = ["by", "made", "expires", "taken", "withdrawn"]
        brief = ["id", "member"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> MemberInvitation:
        return invitation_services.invite_member(by=self.context["request"].user, **validated_data)


class MemberInvitationViewSet(ReadViewSet, AddViewSet, RemoveViewSet):
    """Invitations of members: links that connect an account with a membership.

    POST sends one to the member's e-mail address, DELETE withdraws it.
    """

    serializer_class = MemberInvitationSerializer
    member_path = "member"
    queryset = MemberInvitation.objects.order_by("id")
    filters = build_filters(MemberInvitation, "member", "by", "made", "expires", "taken", "withdrawn")

    def remove(self, row: MemberInvitation) -> None:
        invitation_services.withdraw_given_invitation(row)
