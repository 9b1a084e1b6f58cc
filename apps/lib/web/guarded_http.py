"""HTTP client for URLs that users enter. It contacts only allowed addresses. Knows no database.

A host is resolved once per request, and the connection goes to exactly the address that was checked. Redirects are not followed,
proxies are not used, and the time limit covers the whole request. Raises NoAnswer.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Network, ip_address
from threading import Event, Thread, Timer
from time import monotonic
from urllib.parse import SplitResult, urlsplit

from apps.lib.fields import Prefix
from apps.lib.foreign_text import make_printable
from firewall.policy import Address

NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
COMPATIBLE = IPv6Network("::/96")  # IPv4-compatible, ended in 2006 (RFC 4291, 2.5.5.1)
# IPv6 that may be public: what IANA assigns networks from, and IPv4 in another form. All else has special uses, or none yet.
ROUTED = (IPv6Network("2000::/3"), IPv6Network("::ffff:0:0/96"), NAT64)


class NoAnswerReason(StrEnum):
    """Reason why there is no answer."""

    SCHEME = "scheme"
    ADDRESS = "address"
    UNKNOWN_HOST = "unknown host"
    PRIVATE = "private"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    TOO_SLOW = "too slow"


class NoAnswer(Exception):  # noqa: N818 - a finding about another server, not an error of the program
    """Raised when there is no answer, with the fault and what is at fault.

    `what` is printable and has a maximum length, because it may be the other server's words, and it goes to logs and into the database.
    """

    def __init__(self, fault: StrEnum, what: object = "") -> None:
        self.fault, self.what = fault, make_printable(str(what), 300)
        super().__init__(f"{fault}: {self.what}")


@dataclass(frozen=True, slots=True)
class AllowedTargets:
    """Allowed addresses: the public internet without `never`, all addresses without `never` if `private`, and always `also`."""

    private: bool = False
    also: tuple[Prefix, ...] = ()
    never: tuple[Prefix, ...] = ()

    def can_ask(self, address: Address) -> bool:
        """True if this address may be contacted."""
        if any(address in network for network in self.also):
            return True
        if any(each in network for network in self.never for each in (address, *list_embedded_ipv4(address))):
            return False
        return self.private or is_public(address)


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """The request to send."""

    method: str = "GET"
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def parse_url(url: str, schemes: tuple[str, ...] = ("http", "https")) -> SplitResult:
    """Return the parts of the URL. Raises NoAnswer if it is invalid or has another scheme."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError as error:
        raise NoAnswer(NoAnswerReason.ADDRESS, url) from error
    if parts.scheme not in schemes:
        raise NoAnswer(NoAnswerReason.SCHEME, parts.scheme or url)
    if not parts.hostname or parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
        raise NoAnswer(NoAnswerReason.ADDRESS, url)
    return parts


def list_embedded_ipv4(address: Address) -> list[Address]:
    """Return the IPv4 addresses in an IPv6 address: mapped and compatible (RFC 4291), 6to4 (RFC 3056), Teredo (RFC 4380), NAT64 (RFC
    6052).
    """
    if address.version == 4:
        return []
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    found: list[Address] = [each for each in inner if each is not None]
    # below 2^32, so it is IPv4
    return [*found, ip_address(int(address) & 0xFFFFFFFF)] if address in NAT64 or address in COMPATIBLE else found


def is_public(address: Address) -> bool:
    """True if the address, and every address embedded in it, belongs to the public internet."""
    if address.version == 6 and not any(address in network for network in ROUTED):
        return False
    return all(map(is_public, list_embedded_ipv4(address))) and address.is_global and not address.is_multicast


@contextmanager
def open_request(
    parts: SplitResult, question: OutgoingRequest, reach: AllowedTargets, seconds: float
) -> Iterator[http.client.HTTPResponse]:
    """Send the request and yield the response, whose body is read inside the context.

    A server that answers too slowly, even octet by octet, is cut off after `seconds`.
    """
    deadline, host = monotonic() + seconds, str(parts.hostname)
    address = resolve_allowed_address(host, parts.port or (443 if parts.scheme == "https" else 80), reach, seconds)
    left = deadline - monotonic()
    if left <= 0:
        raise NoAnswer(NoAnswerReason.TOO_SLOW, f"{seconds:.0f}")
    connection, over = _PinnedConnection(parts, address, left), Event()
    timer = Timer(left, _cut_connection, [connection, over])
    timer.daemon = True
    timer.start()
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")  # RFC 9112, 3.2.1
        connection.request(question.method, target, question.body, dict(question.headers))
        yield connection.getresponse()
        if over.is_set():
            raise NoAnswer(NoAnswerReason.TOO_SLOW, f"{seconds:.0f}")
    except ssl.SSLError as error:
        raise NoAnswer(NoAnswerReason.TOO_SLOW, f"{seconds:.0f}") if over.is_set() else _build_tls_error(host, error) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        slow = over.is_set() or isinstance(error, TimeoutError)
        raise NoAnswer(
            NoAnswerReason.TOO_SLOW if slow else NoAnswerReason.UNREACHABLE, f"{seconds:.0f}" if slow else f"{host}: {error}"
        ) from error
    except Exception as error:
        if not over.is_set():
            raise
        raise NoAnswer(NoAnswerReason.TOO_SLOW, f"{seconds:.0f}") from error  # whatever the reader raised, the reason is the time limit
    finally:
        timer.cancel()
        connection.close()


def _build_tls_error(host: str, error: ssl.SSLError) -> NoAnswer:
    """Return the fault in OpenSSL's words. Only failed verification counts as a certificate fault."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return NoAnswer(NoAnswerReason.CERTIFICATE, f"{host}: {error.verify_message}")
    return NoAnswer(NoAnswerReason.UNREACHABLE, f"{host}: TLS: {(error.reason or str(error)).replace('_', ' ').lower()}")


def resolve_allowed_address(host: str, port: int, reach: AllowedTargets, seconds: float) -> str:
    """Return the address to connect to. If any address of the host is not allowed, the host is refused."""
    found = _look_up_host(host, port, seconds)
    for address in found:
        if not reach.can_ask(ip_address(address.partition("%")[0])):
            raise NoAnswer(NoAnswerReason.PRIVATE, f"{host} ({address})")
    return found[0]


def _look_up_host(host: str, port: int, seconds: float) -> list[str]:
    """Resolve in a separate thread, because there is no other way to time out a resolver."""
    found: list[str] = []

    def look() -> None:
        try:
            found.extend(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError):
            return

    thread = Thread(target=look, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise NoAnswer(NoAnswerReason.TOO_SLOW, f"{seconds:.0f}")
    if not found:
        raise NoAnswer(NoAnswerReason.UNKNOWN_HOST, host)
    return found


class _PinnedConnection(http.client.HTTPConnection):
    """Connection to one given address, independent of what the host name resolves to by now."""

    def __init__(self, parts: SplitResult, address: str, seconds: float) -> None:
        secure = parts.scheme == "https"
        super().__init__(str(parts.hostname), parts.port or (443 if secure else 80), timeout=seconds)
        self._address, self._context = address, ssl.create_default_context() if secure else None

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._context:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)


def _cut_connection(connection: _PinnedConnection, over: Event) -> None:
    over.set()
    if connection.sock:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # already closed
