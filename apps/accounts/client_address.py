"""From where a request came: the packet's own source, or behind our own proxies what they say it was."""

from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest

from apps.lib.fields import Address

UNKNOWN = "0.0.0.0"  # noqa: S104 - no address to bind to: the request came over a unix socket


def address(request: HttpRequest) -> str:
    """The client's address. X-Forwarded-For counts only as far as TRUSTED_PROXIES wrote it: read from its end, the first other one."""
    direct = _parsed(request.META.get("REMOTE_ADDR", ""))
    if direct is None or not _trusted(direct):
        return str(direct or UNKNOWN)
    named = [_parsed(each.strip()) for each in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    for each in reversed(named):
        if each is None:
            break
        if not _trusted(each):
            return str(each)
    return str(direct)


def _trusted(of: Address) -> bool:
    return any(of in proxy for proxy in settings.TRUSTED_PROXIES)


def _parsed(text: str) -> Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
