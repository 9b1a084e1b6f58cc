"""Compression of pages on their way to the browser.

Compression beside a secret can betray it to somebody who sees only the length of what passes, and who has the browser request the page
again and again with their own words in it (BREACH, CVE-2013-3587). Against that: Django masks the form token anew in each page, and adds
up to a hundred random octets to each compressed response; browsers send our session cookie with no request that another site makes, except
for a link that is followed. Only pages are compressed: files and the API's ETags stay as they are.
"""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PAGES = "text/html"


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses HTML pages and fragments for browsers that accept it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the response, compressed if it is a page. Called by Django."""
        if isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").startswith(PAGES):
            return super().process_response(request, response)
        return response
