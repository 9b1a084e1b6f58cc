"""Pagination of lists: by limit and offset with a count, or by a cursor for reading all rows, undisturbed by new rows."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from apps.lib.api.compiled_pages import CompiledPages, select_page
from apps.lib.api.filter_types import LARGEST
from apps.lib.api.row_counts import count_rows

MAX_PAGE_SIZE: Final = 1000  # rows on one page
LONGEST_NUMBER: Final = 18  # digits


class LimitOrCursorPagination(LimitOffsetPagination):
    """`?limit=&offset=` returns {count, next, previous, results}. `?cursor=` returns {next, results} by id; an empty cursor starts."""

    max_limit = MAX_PAGE_SIZE
    pages: CompiledPages | None = None
    """Pages of the whole collection, if it is requested without filters."""
    _walks = False
    _following: int | None = None

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        self.request, self._walks = request, "cursor" in request.query_params
        return self._load_walk(queryset, request) if self._walks else self._load_page(queryset, request)

    def _load_page(self, queryset: Any, request: Request) -> list[Any]:
        """Skip rows by their ids, without reading their joins. A last page that is not full gives the count without a query."""
        self.limit, self.offset = self.get_limit(request), self.get_offset(request)
        if self.pages:
            rows = self.pages.read(self.offset, self.limit)
        else:
            rows = list(select_page(queryset, self.offset, self.limit) if self.offset else queryset[: self.limit])
        known = len(rows) < self.limit and (rows or not self.offset)
        self.count = self.offset + len(rows) if known else self.pages.count() if self.pages else count_rows(queryset)
        return rows

    def _load_walk(self, queryset: Any, request: Request) -> list[Any]:
        limit = self.get_limit(request)
        if "ordering" in request.query_params or "offset" in request.query_params:
            raise ValidationError({"?cursor": _("With a cursor, rows are ordered by id: leave out “ordering” and “offset”.")})
        after = _decode_cursor(request.query_params["cursor"])
        rows = list(queryset.filter(pk__gt=after).order_by("pk")[: limit + 1])
        self._following = rows[limit - 1].pk if len(rows) > limit else None
        return rows[:limit]

    def get_limit(self, request: Request) -> int:
        limit = _parse_number(request, "limit", self.default_limit or MAX_PAGE_SIZE)
        if not 0 < limit <= MAX_PAGE_SIZE:
            raise ValidationError({"?limit": _("A page has 1 to %(most)d rows.") % {"most": MAX_PAGE_SIZE}})
        return limit

    def get_offset(self, request: Request) -> int:
        return _parse_number(request, "offset", 0)

    def get_paginated_response(self, data: Any) -> Response:
        if not self._walks:
            return super().get_paginated_response(data)
        return Response({"next": self._build_next_link(), "results": data})

    def _build_next_link(self) -> str | None:
        if self._following is None or self.request is None:
            return None
        here = remove_query_param(self.request.build_absolute_uri(), "cursor")
        return replace_query_param(here, "cursor", _encode_cursor(self._following))


def _parse_number(request: Request, name: str, otherwise: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return otherwise
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= LONGEST_NUMBER else LARGEST
    raise ValidationError({f"?{name}": _("“%(text)s” is not a number.") % {"text": text[:40]}})


def _encode_cursor(pk: int) -> str:
    return urlsafe_b64encode(b"after %d" % pk).decode().rstrip("=")


def _decode_cursor(text: str) -> int:
    """Return the id after which the page begins."""
    if not text:
        return -1
    with suppress(ValueError):
        word, _sep, digits = urlsafe_b64decode(text + "=" * (-len(text) % 4)).partition(b" ")
        if word == b"after" and digits.isdigit() and int(digits) <= LARGEST:
            return int(digits)
    raise ValidationError({"?cursor": _("This is not a cursor. Take it from “next”, or begin with an empty one.")})
