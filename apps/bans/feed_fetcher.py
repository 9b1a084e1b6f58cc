"""Fetches a feed from the web or from a directory, within limits, and never from a forbidden address.

Requests go through `apps/lib/web/guarded_http.py`; redirects are checked like the first address. Uses no database. Raises NoAnswer
if the host gives no answer, or its subclass FeedNotFetched if the answer or the file is not a feed.
"""

import http.client
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic
from urllib.parse import SplitResult, urljoin, urlsplit

from apps.lib.web import guarded_http
from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, OutgoingRequest

REDIRECTS = 5
CHUNK = 1 << 16
_MOVED = {301, 302, 303, 307, 308}


class FeedFault(StrEnum):
    """Reason why an answer, or a file in the directory, is not a feed."""

    STATUS = "status"
    REDIRECTS = "redirects"
    DOWNGRADE = "downgrade"
    TOO_BIG = "too big"
    CUT_OFF = "cut off"
    ENDLESS = "endless"
    WEB_PAGE = "web page"
    ENCODED = "encoded"
    NO_DIRECTORY = "no directory"
    OUTSIDE = "outside"
    NO_FILE = "no file"


class FeedNotFetched(NoAnswer):
    """Raised when nothing was fetched, because of this fault; `what` names the cause."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a fetch: octets of the content, seconds for everything, and the addresses that may be contacted."""

    octets: int = 32 << 20
    seconds: float = 120.0
    reach: AllowedTargets = AllowedTargets()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, slots=True)
class FetchedFeed:
    """The content, or None if it is unchanged; and the validators that tell the server next time which one we have (RFC 9110, 13.1)."""

    content: bytes | None
    etag: str = ""
    last_modified: str = ""


def is_url(source: str) -> bool:
    """True for a URL, False for the name of a file."""
    return "://" in source


def read_feed_file(directory: Path | None, name: str, known: FetchedFeed, limits: FetchLimits) -> FetchedFeed:
    """Read a file in the directory, never one outside of it; unchanged if its time and size are. Raises FeedNotFetched."""
    if directory is None:
        raise FeedNotFetched(FeedFault.NO_DIRECTORY)
    root = directory.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise FeedNotFetched(FeedFault.OUTSIDE, name)
    try:
        if not path.is_file():
            raise FeedNotFetched(FeedFault.NO_FILE, name)
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            etag = f"{stat.st_mtime_ns}-{stat.st_size}"
            if etag == known.etag:
                return FetchedFeed(None, etag)
            content = file.read(limits.octets + 1) if stat.st_size <= limits.octets else None
    except OSError as error:
        raise FeedNotFetched(FeedFault.NO_FILE, f"{name}: {error.strerror}") from error
    if content is None or len(content) > limits.octets:
        raise FeedNotFetched(FeedFault.TOO_BIG, limits.octets >> 20)
    return FetchedFeed(content, etag)


def fetch_feed(url: str, known: FetchedFeed, limits: FetchLimits, progress: Callable[[int], None] = lambda _octets: None) -> FetchedFeed:
    """Fetch the content at this URL; `known`: what was fetched last. progress is called with the octets so far. Raises NoAnswer."""
    deadline = monotonic() + limits.seconds
    for _ in range(REDIRECTS + 1):
        parts = guarded_http.parse_url(url)
        with _open_response(parts, known, limits, deadline) as response:
            if response.status in _MOVED and (location := response.getheader("Location")):
                following = urljoin(url, location)
                if parts.scheme == "https" and urlsplit(following).scheme == "http":
                    raise FeedNotFetched(FeedFault.DOWNGRADE, following)
                url = following
                continue
            return _read_response(response, known, limits, progress)
    raise FeedNotFetched(FeedFault.REDIRECTS, url)


@contextmanager
def _open_response(parts: SplitResult, known: FetchedFeed, limits: FetchLimits, deadline: float) -> Iterator[http.client.HTTPResponse]:
    """Open the response: its head is read, its body is read in the block."""
    try:
        with guarded_http.open_request(
            parts, OutgoingRequest(headers=_build_headers(known)), limits.reach, deadline - monotonic()
        ) as response:
            yield response
    except NoAnswer as error:
        if error.fault is not guarded_http.NoAnswerReason.TOO_SLOW:
            raise
        raise NoAnswer(error.fault, limits.seconds) from error  # the whole time, not what was left of it


def _build_headers(known: FetchedFeed) -> dict[str, str]:
    headers = {"User-Agent": "Netzwart", "Accept": "text/plain, */*", "Accept-Encoding": "identity", "Connection": "close"}
    if known.etag:
        headers["If-None-Match"] = known.etag
    if known.last_modified:
        headers["If-Modified-Since"] = known.last_modified
    return headers


def _read_response(
    response: http.client.HTTPResponse, known: FetchedFeed, limits: FetchLimits, progress: Callable[[int], None]
) -> FetchedFeed:
    if response.status == 304:
        return FetchedFeed(None, known.etag, known.last_modified)
    if response.status != 200:
        raise FeedNotFetched(FeedFault.STATUS, f"{response.status} {response.reason}")
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise FeedNotFetched(FeedFault.ENCODED, response.getheader("Content-Encoding"))
    if "html" in response.getheader("Content-Type", "").lower():
        raise FeedNotFetched(FeedFault.WEB_PAGE)
    content = _read_body(response, limits, progress)
    return FetchedFeed(content, _read_validator(response, "ETag")[:1000], _read_validator(response, "Last-Modified")[:200])


def _read_validator(response: http.client.HTTPResponse, name: str) -> str:
    """Return this header, or "" if it is missing or cannot be printed: then it can be neither stored nor sent back, and we do without."""
    value = response.getheader(name) or ""
    return value if value.isprintable() else ""


def _read_body(response: http.client.HTTPResponse, limits: FetchLimits, progress: Callable[[int], None]) -> bytes:
    """Read the whole body, or raise FeedNotFetched: half a list would lift the bans of the other half."""
    announced, parts, total = response.length, list[bytes](), 0
    if announced is None and not response.chunked:
        raise FeedNotFetched(FeedFault.ENDLESS)
    if announced is not None and announced > limits.octets:
        raise FeedNotFetched(FeedFault.TOO_BIG, limits.octets >> 20)
    while part := response.read(CHUNK):
        total += len(part)
        if total > limits.octets:
            raise FeedNotFetched(FeedFault.TOO_BIG, limits.octets >> 20)
        parts.append(part)
        progress(total)
    if announced is not None and total < announced:
        raise FeedNotFetched(FeedFault.CUT_OFF, f"{total} / {announced}")
    return b"".join(parts)
