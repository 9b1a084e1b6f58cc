"""Limits of API tokens to one member, or to the members of one site."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.roles import Right
from apps.accounts.token_limits import TokenLimitField, TokenLimitKind, register_token_limit
from apps.members.models import Member, Site


class MemberNumberField(forms.CharField):
    """A member's number, like M-2207. The cleaned value is the member's id, None when empty."""

    def __init__(self) -> None:
        super().__init__(label=_("One member"), required=False, max_length=20, help_text=_("The number, like M-2207"))

    def clean(self, value: Any) -> int | None:
        text = str(super().clean(value) or "").upper().removeprefix("M-")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
        found = Member.objects.filter(number=number).values_list("pk", flat=True).first() if number is not None else None
        if text and found is None:
            raise forms.ValidationError(gettext("No member has this number."))
        return found


def register_member_token_restrictions() -> None:
    """Register both limits, so that the token page offers them."""
    register_token_limit(TokenLimitKind("member", Right.SEE_MEMBERS, MemberNumberField, _describe_member))
    register_token_limit(TokenLimitKind("site", Right.SEE_MEMBERS, _build_house_field, _describe_house))


def _describe_member(pk: int) -> str:
    found = Member.objects.filter(pk=pk).first()
    return gettext("data of %(name)s, M-%(number)d") % {"name": found.name, "number": found.number} if found else ""


def _build_house_field() -> forms.Field:
    return TokenLimitField(_("One house"), lambda: list(Site.objects.values_list("pk", "name")))


def _describe_house(pk: int) -> str:
    found = Site.objects.filter(pk=pk).first()
    return gettext("data of members in %(house)s") % {"house": found.name} if found else ""
