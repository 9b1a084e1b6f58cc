"""Fetch a feed, from the web or from a directory, within limits, and never from where it must not be asked for.

A host is resolved once for each request, and exactly that address is connected to: what was checked is what answers. Redirects are
checked like the first address. Knows no database. Raises NoFeed.
"""

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network, ip_address
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from urllib.parse import SplitResult, urljoin, urlsplit

from firewall.policy import Address

REDIRECTS = 5
CHUNK = 1 << 16
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_MOVED = {301, 302, 303, 307, 308}


class Fault(StrEnum):
    """Why nothing was fetched."""

    SCHEME = "scheme"
    ADDRESS = "address"
    UNKNOWN_HOST = "unknown host"
    PRIVATE = "private"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    STATUS = "status"
    REDIRECTS = "redirects"
    DOWNGRADE = "downgrade"
    TOO_BIG = "too big"
    TOO_SLOW = "too slow"
    CUT_OFF = "cut off"
    ENDLESS = "endless"
    WEB_PAGE = "web page"
    ENCODED = "encoded"
    NO_DIRECTORY = "no directory"
    OUTSIDE = "outside"
    NO_FILE = "no file"


class NoFeed(Exception):  # noqa: N818 - a finding about somebody's feed, not an error of the program
    """Nothing was fetched, because of this fault; `what` names whatever is at fault."""

    def __init__(self, fault: Fault, what: object = "") -> None:
        super().__init__(f"{fault}: {what}")
        self.fault, self.what = fault, str(what)[:300]


@dataclass(frozen=True, slots=True)
class Limits:
    """Octets of the whole, seconds for all of it, and whether addresses count that are not of the public internet."""

    octets: int = 32 << 20
    seconds: float = 120.0
    private: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content, None when it is as it was; and what tells the server next time which one we have (RFC 9110, 13.1)."""

    content: bytes | None
    etag: str = ""
    last_modified: str = ""


def is_url(source: str) -> bool:
    """A URL rather than the name of a file?"""
    return "://" in source


def checked(url: str) -> SplitResult:
    """The URL, taken apart, if we would ask there at all."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError as error:
        raise NoFeed(Fault.ADDRESS, url) from error
    if parts.scheme not in ("http", "https"):
        raise NoFeed(Fault.SCHEME, parts.scheme or url)
    if not parts.hostname or parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
        raise NoFeed(Fault.ADDRESS, url)
    return parts


def read_file(directory: Path | None, name: str, known: Fetched, limits: Limits) -> Fetched:
    """A file in the directory, whatever its name tries; unchanged when its time and size are."""
    if directory is None:
        raise NoFeed(Fault.NO_DIRECTORY)
    root = directory.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise NoFeed(Fault.OUTSIDE, name)
    try:
        if not path.is_file():
            raise NoFeed(Fault.NO_FILE, name)
        with path.open("rb") as file:
            content = file.read(limits.octets + 1)
        stat = path.stat()
    except OSError as error:
        raise NoFeed(Fault.NO_FILE, f"{name}: {error.strerror}") from error
    if len(content) > limits.octets:
        raise NoFeed(Fault.TOO_BIG, limits.octets >> 20)
    etag = f"{stat.st_mtime_ns}-{stat.st_size}"
    return Fetched(None if etag == known.etag else content, etag)


def fetch(url: str, known: Fetched, limits: Limits, progress: Callable[[int], None] = lambda _octets: None) -> Fetched:
    """What is there now; `known`: what was fetched last. progress is called with the octets so far."""
    deadline = monotonic() + limits.seconds
    for _ in range(REDIRECTS + 1):
        parts = checked(url)
        with _asked(parts, known, limits, deadline) as response:
            if response.status in _MOVED and (location := response.getheader("Location")):
                following = urljoin(url, location)
                if parts.scheme == "https" and urlsplit(following).scheme == "http":
                    raise NoFeed(Fault.DOWNGRADE, following)
                url = following
                continue
            return _taken(response, known, limits, progress)
    raise NoFeed(Fault.REDIRECTS, url)


def allowed(address: Address) -> bool:
    """Is it of the public internet? Addresses within addresses count too."""
    if address.version == 6:
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in NAT64:
            inner = ip_address(int(address) & 0xFFFFFFFF)  # type: ignore[assignment]  # below 2^32 it is IPv4
        if inner is not None and not allowed(inner):
            return False
    return address.is_global and not address.is_multicast


def _resolved(host: str, port: int, *, private: bool) -> str:
    """The address to connect to. One that must not be asked is refused even if another of the host's would do."""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise NoFeed(Fault.UNKNOWN_HOST, host) from error
    for address in found:
        if not private and not allowed(ip_address(address.partition("%")[0])):
            raise NoFeed(Fault.PRIVATE, f"{host} ({address})")
    return found[0]


class _Pinned(http.client.HTTPConnection):
    """A connection to one address, whatever the host's name leads to by now."""

    def __init__(self, parts: SplitResult, address: str, seconds: float) -> None:
        secure = parts.scheme == "https"
        super().__init__(str(parts.hostname), parts.port or (443 if secure else 80), timeout=seconds)
        self._address, self._context = address, ssl.create_default_context() if secure else None

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._context:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)


@contextmanager
def _asked(parts: SplitResult, known: Fetched, limits: Limits, deadline: float) -> Iterator[http.client.HTTPResponse]:
    """The head of the answer; its body is read within. Whoever dawdles, octet by octet, is cut off at the deadline."""
    host = str(parts.hostname)
    address = _resolved(host, parts.port or (443 if parts.scheme == "https" else 80), private=limits.private)
    left = deadline - monotonic()
    if left <= 0:
        raise NoFeed(Fault.TOO_SLOW, limits.seconds)
    connection, over = _Pinned(parts, address, left), Event()
    timer = Timer(left, _cut, [connection, over])
    timer.daemon = True
    timer.start()
    try:
        connection.request("GET", parts._replace(scheme="", netloc="", fragment="").geturl() or "/", headers=_headers(known))
        yield connection.getresponse()
        if over.is_set():
            raise NoFeed(Fault.TOO_SLOW, limits.seconds)
    except NoFeed as fault:
        raise (NoFeed(Fault.TOO_SLOW, limits.seconds) if over.is_set() else fault) from None
    except ssl.SSLError as error:
        raise NoFeed(Fault.TOO_SLOW if over.is_set() else Fault.CERTIFICATE, f"{host}: {error.reason or error}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        slow = over.is_set() or isinstance(error, TimeoutError)
        raise NoFeed(Fault.TOO_SLOW if slow else Fault.UNREACHABLE, limits.seconds if slow else f"{host}: {error}") from error
    finally:
        timer.cancel()
        connection.close()


def _cut(connection: _Pinned, over: Event) -> None:
    over.set()
    if connection.sock:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it is gone already


def _headers(known: Fetched) -> dict[str, str]:
    headers = {"User-Agent": "Netzwart", "Accept": "text/plain, */*", "Accept-Encoding": "identity", "Connection": "close"}
    if known.etag:
        headers["If-None-Match"] = known.etag
    if known.last_modified:
        headers["If-Modified-Since"] = known.last_modified
    return headers


def _taken(response: http.client.HTTPResponse, known: Fetched, limits: Limits, progress: Callable[[int], None]) -> Fetched:
    if response.status == 304:
        return Fetched(None, known.etag, known.last_modified)
    if response.status != 200:
        raise NoFeed(Fault.STATUS, f"{response.status} {response.reason}")
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise NoFeed(Fault.ENCODED, response.getheader("Content-Encoding"))
    if "html" in response.getheader("Content-Type", "").lower():
        raise NoFeed(Fault.WEB_PAGE)
    content = _body(response, limits, progress)
    return Fetched(content, (response.getheader("ETag") or "")[:1000], (response.getheader("Last-Modified") or "")[:200])


def _body(response: http.client.HTTPResponse, limits: Limits, progress: Callable[[int], None]) -> bytes:
    """All of it, or nothing: half a list would lift the bans of the other half."""
    announced, parts, total = response.length, list[bytes](), 0
    if announced is None and not response.chunked:
        raise NoFeed(Fault.ENDLESS)
    if announced is not None and announced > limits.octets:
        raise NoFeed(Fault.TOO_BIG, limits.octets >> 20)
    while part := response.read(CHUNK):
        total += len(part)
        if total > limits.octets:
            raise NoFeed(Fault.TOO_BIG, limits.octets >> 20)
        parts.append(part)
        progress(total)
    if announced is not None and total < announced:
        raise NoFeed(Fault.CUT_OFF, f"{total} / {announced}")
    return b"".join(parts)
