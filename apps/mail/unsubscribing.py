"""Links that switch a kind of notice off without signing in: each is signed, and names an address and a kind."""

from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii
from apps.mail.models import SwitchedOff

_signer: Final = Signer(salt="mail.switch_off")


def build_link(address: str, notice: str) -> str:
    """The whole address of the page; whoever knows it can switch this off and on, and nothing else."""
    return f"{settings.PORTAL_URL}{reverse('mail:switch-off', args=[_signer.sign_object([address, notice])])}"


def parse_token(token: str) -> tuple[str, str] | None:
    """The address and the kind of notice that a link names; None if it is not ours."""
    try:
        address, notice = _signer.unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return str(address), str(notice)


def list_switched_off(addresses: Iterable[str], notice: str) -> set[str]:
    """Those of these addresses where it is off, in lower case."""
    asked = {lower_ascii(each) for each in addresses if each}
    lower = SwitchedOff.objects.filter(notice=notice).annotate(lower=AsciiLower("address"))
    return set(lower.filter(lower__in=asked).values_list("lower", flat=True)) if asked else set()


def is_off(address: str, notice: str) -> bool:
    return SwitchedOff.objects.filter(address__iexact=address, notice=notice).exists()
