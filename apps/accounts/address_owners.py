"""Accounts of an e-mail address: for signing in, a forgotten password, and the question whether somebody may be invited.

An address that was only noted for a change is nobody's until the link that was sent there was opened: it may be mistyped.
"""

from apps.accounts.models import User
from apps.lib.email_address import lower_ascii


def list_accounts_of_address(address: str) -> list[User]:
    """Return the account that confirmed the address; if none did, those that have it as their own, oldest first."""
    if not address:
        return []
    confirmed = User.objects.filter(emailaddress__email=lower_ascii(address), emailaddress__verified=True)
    return list(confirmed) or list(User.objects.filter(email__iexact=address).order_by("pk"))
