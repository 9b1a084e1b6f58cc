"""Address of the client: the packet's own source, or behind our own proxies what they report."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

from apps.lib.fields import Address

UNKNOWN = "0.0.0.0"  # noqa: S104 - not an address to bind to: the request came over a unix socket


def get_client_address(request: HttpRequest) -> str:
    """Return the client's address.

    X-Forwarded-For counts only as far as TRUSTED_PROXIES wrote it: it is read from its end to the first other address.
    """
    direct = _parse_address(request.META.get("REMOTE_ADDR", ""))
    if direct is None or not _is_trusted_proxy(direct):
        return str(direct or UNKNOWN)
    named = [_parse_address(each.strip()) for each in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    for each in reversed(named):
        if each is None:
            break
        if not _is_trusted_proxy(each):
            return str(each)
    return str(direct)


def get_limit_key(request: HttpRequest) -> str:
    """Return what limits count requests by: the client's IPv4 address, or the /64 of its IPv6 address.

    A computer has a whole /64 (RFC 4291, 2.5.4), and could send each request from another address of it.
    """
    address = ip_address(get_client_address(request))
    return str(address) if address.version == 4 else str(IPv6Network((int(address), 64), strict=False))


def _is_trusted_proxy(of: Address) -> bool:
    return any(of in proxy for proxy in settings.TRUSTED_PROXIES)


def _parse_address(text: str) -> Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
