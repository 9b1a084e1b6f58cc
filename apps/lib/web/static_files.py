"""Static files at addresses that name their content, compressed, so that a browser keeps each for a year and never asks again.

`{% static "netzwart/page.css" %}` gives /static/netzwart/page.1f0c9a27b3d4.css. A file is read, named and compressed once in each
process, on its first use: nothing has to be collected before the portal runs, and every way of running it does the same.
"""

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

DIGITS: Final = 12  # of a fingerprint, as Django's own hashed names have them
FINGERPRINTED: Final = re.compile(rf"(?P<stem>.+)\.(?P<fingerprint>[0-9a-f]{{{DIGITS}}})(?P<suffix>\.\w+)")
ACCEPTS_GZIP: Final = re.compile(r"\bgzip\b")
FOR_A_YEAR: Final = "public, max-age=31536000, immutable"
NOT_KEPT: Final = "no-cache"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file in memory. compressed: its content by gzip; None if that is not smaller."""

    content: bytes
    compressed: bytes | None
    media_type: str
    fingerprint: str

    def build_response(self, request: HttpRequest, cache_control: str) -> HttpResponse:
        """Return the response to a GET or HEAD request."""
        accepts = self.compressed is not None and ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", ""))
        content = self.compressed if self.compressed is not None and accepts else self.content
        headers = {"Cache-Control": cache_control, "Content-Length": str(len(content))}
        if self.compressed is not None:
            headers["Vary"] = "Accept-Encoding"
        if accepts:
            headers["Content-Encoding"] = "gzip"
        return HttpResponse(b"" if request.method == "HEAD" else content, content_type=self.media_type, headers=headers)


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """Serves fingerprinted addresses from memory, and plain ones as WhiteNoise does.

    An address of an earlier release, which a page that was open during an upgrade asks for, gets the present file, and nobody keeps it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = _serve_fingerprinted(request, self.static_prefix) or super().__call__(request)
        return response


def _serve_fingerprinted(request: HttpRequest, prefix: str) -> HttpResponse | None:
    if not request.path_info.startswith(prefix) or request.method not in ("GET", "HEAD"):
        return None
    named = FINGERPRINTED.fullmatch(request.path_info.removeprefix(prefix))
    file = load_static_file(named["stem"] + named["suffix"]) if named else None
    if named is None or file is None:
        return None
    return file.build_response(request, FOR_A_YEAR if named["fingerprint"] == file.fingerprint else NOT_KEPT)


class FingerprintedStorage(StaticFilesStorage):
    """Gives static files addresses that change with their content; plain ones while debugging, when files change under a running server."""

    def url(self, name: str | None) -> str:
        """Return the file's address. Raises ValueError for a file that is not there."""
        if settings.DEBUG or name is None:
            return super().url(name)
        file = load_static_file(name)
        if file is None:
            raise ValueError(f"There is no static file {name}.")
        path = Path(name)
        return super().url(str(path.with_name(f"{path.stem}.{file.fingerprint}{path.suffix}")))


def load_static_file(name: str) -> StaticFile | None:
    """Return the file of this name below a directory of static files; None if there is none."""
    return _read_static_file(name) if name in _list_names() else None


@cache
def _list_names() -> frozenset[str]:
    """Return the names of all static files: what is asked for is looked up here, and no path is ever made of it."""
    return frozenset(name for finder in finders.get_finders() for name, _storage in finder.list(None))


@cache
def _read_static_file(name: str) -> StaticFile:
    found = finders.find(name)
    if found is None:
        raise FileNotFoundError(name)
    content = Path(found).read_bytes()
    compressed = gzip.compress(content, compresslevel=9, mtime=0)
    media_type = guess_type(name)[0] or "application/octet-stream"
    media_type = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    return StaticFile(content, compressed if len(compressed) < len(content) else None, media_type, sha256(content).hexdigest()[:DIGITS])
