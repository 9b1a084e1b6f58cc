"""Streams a whole list as one file: `?format=csv` for spreadsheets, `?format=jsonl` for programs.

Rows come through a server-side cursor, BATCH at a time, so memory is constant. Filters, ordering, `fields` and `brief` work as
usual; there are no pages.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import batched
from typing import Any, Final

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

from apps.lib.csv_stream import EchoFile, escape_formula

BATCH: Final = 1000
PAGED: Final = ("limit", "offset", "cursor")


class CsvNegotiationRenderer(JSONRenderer):
    """Represents CSV in content negotiation. It only renders problems, which are JSON."""

    media_type, format = "text/csv", "csv"


class JsonLinesNegotiationRenderer(JSONRenderer):
    """Represents JSON Lines, one object a line (jsonlines.org), in the same way."""

    media_type, format = "application/jsonl", "jsonl"


def is_table_request(request: Request) -> bool:
    """True if the list is requested as a table. Raises ValidationError if pages are requested, too."""
    table = getattr(request.accepted_renderer, "format", "") in (CsvNegotiationRenderer.format, JsonLinesNegotiationRenderer.format)
    paged = next((name for name in PAGED if name in request.query_params), None)
    if table and paged:
        raise ValidationError({f"?{paged}": _("A table always contains the whole list; it has no pages.")})
    return table


def build_table_response(view: Any, rows: QuerySet[Any]) -> StreamingHttpResponse:
    """Return a response that streams all rows in the requested format."""
    renderer = view.request.accepted_renderer
    objects, names = _iter_batches(view, rows), list(view.get_serializer().fields)
    lines = _iter_csv_lines(names, objects) if renderer.format == CsvNegotiationRenderer.format else _iter_json_lines(objects)
    response = StreamingHttpResponse(lines, content_type=f"{renderer.media_type}; charset=utf-8")
    filename = f"{view.basename}-{timezone.localdate():%Y-%m-%d}.{renderer.format}"
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _iter_batches(view: Any, rows: QuerySet[Any]) -> Iterator[Sequence[dict[str, Any]]]:
    for some in batched(rows.iterator(chunk_size=BATCH), BATCH):
        yield view.get_serializer(view.prepare_rows(some), many=True).data


def _iter_json_lines(batches: Iterable[Sequence[dict[str, Any]]]) -> Iterator[str]:
    for batch in batches:
        yield "".join(f"{_render_json(each)}\n" for each in batch)


def _iter_csv_lines(names: Sequence[str], batches: Iterable[Sequence[dict[str, Any]]]) -> Iterator[str]:
    writer = csv.writer(EchoFile())
    yield writer.writerow(names)
    for batch in batches:
        yield "".join(writer.writerow([render_cell(each.get(name)) for name in names]) for each in batch)


def render_cell(value: object) -> str:
    """Return a value as text for a spreadsheet: "" for null, lists and objects as JSON, and no text that it would run as a formula."""
    if isinstance(value, str):
        return escape_formula(value)
    if value is None:
        return ""
    return escape_formula(_render_json(value).strip('"')) if not isinstance(value, int | float) or isinstance(value, bool) else str(value)


def _render_json(value: object) -> str:
    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":"))
