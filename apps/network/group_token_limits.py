"""Tokens for scripts that are for one gateway group."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.roles import Right
from apps.accounts.token_limits import Limit, OneOf, limits
from apps.network.models import GatewayGroup


def register() -> None:
    """From now on tokens can be limited so on their page."""
    limits(Limit("group", Right.SEE_NETWORK, _field, _called))


def _field() -> forms.Field:
    return OneOf(_("One gateway group"), lambda: list(GatewayGroup.objects.order_by("name").values_list("pk", "name")))


def _called(pk: int) -> str:
    found = GatewayGroup.objects.filter(pk=pk).first()
    return gettext("what is of the gateway group %(group)s") % {"group": found.name} if found else ""
