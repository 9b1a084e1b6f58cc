"""Authentication by name or address and password: one hash for each attempt, whether the account exists or not."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.http import HttpRequest

from apps.accounts.address_owners import list_accounts_of_address
from apps.accounts.models import User


class ByPassword(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Password backend that hashes once. allauth's backend tries a name and then an address, and hashes for each account that it
    finds: the time would reveal accounts.
    """

    def _authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        found: User | None = self._check_password(find_account(credentials), credentials.get("password") or "")
        return found


def find_account(credentials: dict[str, Any]) -> User | None:
    """Find the account by its name, else by its address: first where that is confirmed."""
    if (name := credentials.get("username")) and (user := User.objects.filter(username__iexact=name).first()):
        return user
    return next(iter(list_accounts_of_address(str(credentials.get("email") or ""))), None)
