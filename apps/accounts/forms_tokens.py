"""Form for a new token."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import token_limits
from apps.accounts.collection_names import iter_collection_groups
from apps.accounts.models import User
from apps.accounts.password_field import OwnPasswordField
from apps.accounts.roles import Right, compute_rights
from apps.accounts.route_rights import API, CollectionRights
from apps.accounts.tokens import EVERY, READ, WRITE
from apps.lib.errors import Problem
from apps.lib.fields import Prefix, PrefixField
from apps.lib.ui.checkbox_grid import CheckboxGrid
from apps.lib.ui.form_errors import add_problem_to_form

LONGEST: Final = 3650  # days
COLUMNS: Final = ((READ, gettext_lazy("read")), (WRITE, gettext_lazy("write")))


class TokenForm(forms.Form):
    """Purpose and limits of a new token. The fields `member`, `site` and `group` exist only if the owner may see all of these.

    password_confirmed: the owner has just given the password for this submission.
    """

    name = forms.CharField(
        label=gettext_lazy("What for"), max_length=80, widget=forms.TextInput(attrs={"placeholder": gettext_lazy("backup script")})
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Rights"),
        help_text=gettext_lazy("Write includes read. A token can do nothing that your roles do not allow."),
        error_messages={"required": gettext_lazy("Choose what it may do.")},
        widget=CheckboxGrid(COLUMNS),
    )
    networks = forms.CharField(
        label=gettext_lazy("Only from these networks"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Addresses or prefixes, separated by commas. Empty: from anywhere."),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Lifetime in days"),
        required=False,
        min_value=1,
        max_value=LONGEST,
        initial=90,
        help_text=gettext_lazy("Empty: until it is revoked."),
    )

    def __init__(self, by: User, data: Any = None, *, password_confirmed: bool = False) -> None:
        super().__init__(data)
        held = compute_rights(by.roles, by_token=True)
        self.fields["scopes"].choices = list(_iter_scope_choices(held))  # type: ignore[attr-defined]  # a choice field
        self.limits = [each for each in token_limits.list_token_limits() if each.right in held]
        for each in self.limits:
            self.fields[each.name] = each.field()
        if by.has_usable_password():  # accounts that sign in at a provider have no password to confirm
            self.fields["password"] = OwnPasswordField(by, confirmed=password_confirmed)

    @property
    def token_limit_fields(self) -> list[forms.BoundField]:
        """The fields that limit the token to one thing."""
        return [self[each.name] for each in self.limits]

    def clean_networks(self) -> list[Prefix]:
        found = []
        for text in self.cleaned_data["networks"].replace(",", " ").split():
            try:
                found.append(PrefixField().parse(text))
            except ValueError as error:
                raise forms.ValidationError(_("“%(text)s” is not an address or prefix.") % {"text": text}) from error
        return found

    def to_kwargs(self) -> dict[str, Any]:
        """Return the arguments for `tokens.create_token`."""
        given = self.cleaned_data
        return {
            "name": given["name"],
            "scopes": self.list_scopes(),
            "networks": given["networks"],
            "expires": self.compute_end(),
            **{each.name: given[each.name] for each in self.limits},
        }

    def list_scopes(self) -> list[str] | None:
        """Return the chosen scopes without those that others include; None for everything."""
        chosen = set(self.cleaned_data["scopes"])
        if f"{EVERY}:{WRITE}" in chosen:
            return None
        read_anyway = {scope.replace(f":{WRITE}", f":{READ}") for scope in chosen if scope.endswith(f":{WRITE}")}
        if f"{EVERY}:{READ}" in chosen:
            read_anyway |= {scope for scope in chosen if scope.endswith(f":{READ}")} - {f"{EVERY}:{READ}"}
        return sorted(chosen - read_anyway)

    def compute_end(self) -> datetime | None:
        """Return the moment at which the token expires, or None for never."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)


def _iter_scope_choices(held: frozenset[Right]) -> Iterator[tuple[Any, list[tuple[str, Any]]]]:
    """Yield the choices in groups: everything, then each collection that holders of these rights may read or write."""
    all_of_it = gettext_lazy("Everything, including future kinds")
    yield gettext_lazy("Everything"), [(f"{EVERY}:{what}", all_of_it) for what in (READ, WRITE)]
    for words, found in iter_collection_groups(lambda name: bool(_list_access_kinds(API[name], held))):
        yield words, [(f"{name}:{what}", called) for name, called in found for what in _list_access_kinds(API[name], held)]


def _list_access_kinds(rows: CollectionRights, held: frozenset[Right]) -> list[str]:
    """Return whether holders of these rights can read the collection, and whether they can write to it, as a list of READ and WRITE."""
    writes = {rows.write, *rows.actions.values()} - {None}
    return [what for what, there in ((READ, rows.read in held), (WRITE, bool(writes & held))) if there]
