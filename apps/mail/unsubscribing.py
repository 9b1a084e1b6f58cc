"""Signed links that switch a kind of notice off for an address, without signing in."""

from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii
from apps.mail.models import SwitchedOff

_signer: Final = Signer(salt="mail.switch_off")


def build_unsubscribe_link(address: str, notice: str) -> str:
    """Return the page's absolute URL. It permits to switch this notice off and on for this address, and nothing else."""
    return f"{settings.PORTAL_URL}{reverse('mail:switch-off', args=[_signer.sign_object([address, notice])])}"


def parse_unsubscribe_token(token: str) -> tuple[str, str] | None:
    """Return the address and the kind of notice that a link names; None if the signature is not ours."""
    try:
        address, notice = _signer.unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return str(address), str(notice)


def list_unsubscribed_addresses(addresses: Iterable[str], notice: str) -> set[str]:
    """Return those of the addresses, in lower case, that have switched the notice off."""
    asked = {lower_ascii(each) for each in addresses if each}
    lower = SwitchedOff.objects.filter(notice=notice).annotate(lower=AsciiLower("address"))
    return set(lower.filter(lower__in=asked).values_list("lower", flat=True)) if asked else set()


def is_notice_off(address: str, notice: str) -> bool:
    return SwitchedOff.objects.filter(address__iexact=address, notice=notice).exists()
