"""Own tokens, invitations, accounts and changes of roles in the REST API.

Tokens are made only on their page: a script cannot give itself more rights.
"""

from django.db.models import QuerySet
from rest_framework import serializers

from apps.accounts import invitations, tokens
from apps.accounts.models import ApiToken, Invitation, RoleChange, User
from apps.lib.api.fields import PrefixText
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import TEXT, make_array, make_nullable
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import ReadViewSet, RemoveViewSet


class TokenSerializer(ApiSerializer):
    shapes = {"scopes": make_nullable(make_array(TEXT))}
    networks = serializers.ListField(child=PrefixText(), read_only=True)

    class Meta:
        model = ApiToken
        fields = ["id", "name", "start", "scopes", "member_id", "group_id", "site_id", "networks", "created", "last_used", "expires"]
        read_only_fields = fields
        brief = ["id", "name", "start"]


class TokenViewSet(ReadViewSet, RemoveViewSet):
    """The caller's own tokens. DELETE revokes one. Tokens are made only on the web page."""

    serializer_class = TokenSerializer
    filters = build_filters(ApiToken, "name", "start", "created", "last_used", "expires")

    def get_queryset(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=self.request.user.pk).order_by("id")

    def remove(self, row: ApiToken) -> None:
        tokens.revoke_token(user=row.user, pk=row.pk)


class InvitationSerializer(ApiSerializer):
    shapes = {"roles": make_array(TEXT)}

    class Meta:
        model = Invitation
        fields = ["id", "email", "roles", "by", "made", "expires"]
        read_only_fields = fields
        brief = ["id", "email"]


class InvitationViewSet(ReadViewSet, RemoveViewSet):
    """Invitations that are neither accepted nor withdrawn. DELETE withdraws one."""

    serializer_class = InvitationSerializer
    queryset = Invitation.objects.filter(taken=None, withdrawn=None).order_by("id")
    filters = build_filters(Invitation, "email", "by", "made", "expires")

    def remove(self, row: Invitation) -> None:
        invitations.withdraw_invitation(row)


class PersonSerializer(ApiSerializer):
    shapes = {"roles": make_array(TEXT), "name": TEXT}

    class Meta:
        model = User
        fields = ["id", "username", "name", "roles", "is_active"]
        read_only_fields = fields
        brief = ["id", "username", "name"]


class PersonViewSet(ReadViewSet):
    """Accounts. The fields `author` and `by` of other collections refer to these."""

    serializer_class = PersonSerializer
    queryset = User.objects.order_by("id")
    filters = build_filters(User, "username", "is_active")


class RoleChangeSerializer(ApiSerializer):
    shapes = {"old": make_array(TEXT), "new": make_array(TEXT)}

    class Meta:
        model = RoleChange
        fields = ["id", "user", "old", "new", "reason", "state", "by", "asked", "decided_by", "decided"]
        read_only_fields = fields
        brief = ["id", "user", "state"]


class RoleChangeViewSet(ReadViewSet):
    """Changes of roles: done, dropped, or waiting for a second person, who decides on the web page."""

    serializer_class = RoleChangeSerializer
    queryset = RoleChange.objects.order_by("id")
    filters = build_filters(RoleChange, "user", "state", "by", "asked", "decided_by", "decided")
