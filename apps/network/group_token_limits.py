"""Limit for API tokens: a token may be restricted to one gateway group."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.roles import Right
from apps.accounts.token_limits import TokenLimitField, TokenLimitKind, register_token_limit
from apps.network.models import GatewayGroup


def register_group_token_limit() -> None:
    """Register the limit, so that the page of tokens offers it."""
    register_token_limit(TokenLimitKind("group", Right.SEE_NETWORK, _build_field, _describe_group))


def _build_field() -> forms.Field:
    return TokenLimitField(_("One gateway group"), lambda: list(GatewayGroup.objects.order_by("name").values_list("pk", "name")))


def _describe_group(pk: int) -> str:
    found = GatewayGroup.objects.filter(pk=pk).first()
    return gettext("data of the gateway group %(group)s") % {"group": found.name} if found else ""
